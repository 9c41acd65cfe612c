package browser

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// firefoxPrefs stop all requests of Firefox but those of the page under test, and all its questions
// to the user. They do not change the behaviour that a web page can notice.
var firefoxPrefs = map[string]any{
	"app.normandy.enabled":                                       false,
	"app.update.auto":                                            false,
	"app.update.enabled":                                         false,
	"browser.aboutConfig.showWarning":                            false,
	"browser.contentblocking.introCount":                         99,
	"browser.discovery.enabled":                                  false,
	"browser.dom.window.dump.enabled":                            true,
	"browser.ml.enable":                                          false,
	"browser.newtabpage.enabled":                                 false,
	"browser.newtabpage.activity-stream.feeds.system.topstories": false,
	"browser.pagethumbnails.capturing_disabled":                  true,
	"browser.region.network.url":                                 "",
	"browser.region.update.enabled":                              false,
	"browser.safebrowsing.blockedURIs.enabled":                   false,
	"browser.safebrowsing.downloads.enabled":                     false,
	"browser.safebrowsing.malware.enabled":                       false,
	"browser.safebrowsing.phishing.enabled":                      false,
	"browser.safebrowsing.provider.mozilla.updateURL":            "",
	"browser.search.suggest.enabled":                             false,
	"browser.search.update":                                      false,
	"browser.sessionstore.resume_from_crash":                     false,
	"browser.shell.checkDefaultBrowser":                          false,
	"browser.startup.homepage":                                   "about:blank",
	"browser.startup.homepage_override.mstone":                   "ignore",
	"browser.startup.page":                                       0,
	"browser.tabs.unloadOnLowMemory":                             false,
	"browser.topsites.contile.enabled":                           false,
	"browser.translations.enable":                                false,
	"browser.urlbar.quicksuggest.enabled":                        false,
	"browser.warnOnQuit":                                         false,
	"datareporting.healthreport.uploadEnabled":                   false,
	"datareporting.policy.dataSubmissionEnabled":                 false,
	"dom.disable_open_during_load":                               false,
	"dom.max_script_run_time":                                    0,
	"dom.push.connection.enabled":                                false,
	"extensions.autoDisableScopes":                               15,
	"extensions.blocklist.enabled":                               false,
	"extensions.getAddons.cache.enabled":                         false,
	"extensions.systemAddon.update.enabled":                      false,
	"extensions.systemAddon.update.url":                          "",
	"extensions.update.enabled":                                  false,
	"geo.provider.testing":                                       true,
	"identity.fxaccounts.enabled":                                false,
	// Without it no datagram reaches a sink on loopback, and a test that expects none would prove
	// nothing.
	"media.peerconnection.ice.loopback":                true,
	"media.gmp-manager.updateEnabled":                  false,
	"media.gmp-manager.url":                            "",
	"messaging-system.rsexperimentloader.enabled":      false,
	"network.captive-portal-service.enabled":           false,
	"network.connectivity-service.enabled":             false,
	"network.trr.mode":                                 5,
	"nimbus.rollouts.enabled":                          false,
	"security.certerrors.mitm.priming.enabled":         false,
	"security.remote_settings.crlite_filters.enabled":  false,
	"security.remote_settings.intermediates.enabled":   false,
	"services.settings.server":                         "data:,#remote-settings-dummy/v1",
	"signon.rememberSignons":                           false,
	"startup.homepage_welcome_url":                     "",
	"toolkit.coverage.endpoint.base":                   "",
	"toolkit.telemetry.enabled":                        false,
	"toolkit.telemetry.server":                         "",
	"toolkit.telemetry.reportingpolicy.firstRun":       false,
	"trailhead.firstrun.branches":                      "nofirstrun-empty",
	"widget.windows.window_occlusion_tracking.enabled": false,
}

// writeProfile makes a Firefox profile folder with these settings.
func writeProfile(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(firefoxPrefs)) {
		v, err := json.Marshal(firefoxPrefs[k])
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "user_pref(%q, %s);\n", k, v)
	}
	return os.WriteFile(filepath.Join(dir, "user.js"), []byte(b.String()), 0o600)
}
