package headers

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// features are the features of Permissions-Policy in Chromium 156, as listed by
// document.featurePolicy.features(). The client hints (ch-*) are left out. They only control
// data sent to other origins, and the page requests nothing from other origins.
const features = `accelerometer aria-notify autoplay browsing-topics camera captured-surface-control clipboard-read
clipboard-write compute-pressure cross-origin-isolated deferred-fetch deferred-fetch-minimal digital-credentials-create
digital-credentials-get display-capture encrypted-media fullscreen gamepad geolocation gyroscope hid
identity-credentials-get idle-detection interest-cohort keyboard-map language-detector language-model local-fonts
local-network local-network-access loopback-network magnetometer media-playback-while-not-visible microphone midi
on-device-speech-recognition otp-credentials payment picture-in-picture private-state-token-issuance
private-state-token-redemption publickey-credentials-create publickey-credentials-get screen-wake-lock serial
speaker-selection storage-access summarizer sync-xhr translator unload usb window-management xr-spatial-tracking`

// isolated is never denied, because COOP and COEP have no effect without it.
const isolated = "cross-origin-isolated"

// listed returns every feature that [Use] may list, in a fixed order.
func listed() []string { return strings.Fields(features) }

// Permission is the rule of one feature.
type Permission struct {
	Feature string // a feature of the Permissions-Policy standard, such as "camera"
	Self    bool   // allowed for the page itself, otherwise denied for all
}

// Permissions is a Permissions-Policy.
type Permissions []Permission

func permissionsFor(open []string) (Permissions, error) {
	known := listed()
	var errs []error
	for _, f := range open {
		if !slices.Contains(known, f) {
			errs = append(errs, errors.New("features: "+strconv.Quote(f)+" is not a known feature of Permissions-Policy"))
		}
	}
	var p Permissions
	for _, f := range known {
		p = append(p, Permission{f, f == isolated || slices.Contains(open, f)})
	}
	return p, errors.Join(errs...)
}

// Allows reports whether the page itself may use the feature. ok is false if the policy does
// not list the feature. The browser's own default applies then.
func (p Permissions) Allows(feature string) (self, ok bool) {
	for _, x := range p {
		if x.Feature == feature {
			return x.Self, true
		}
	}
	return false, false
}

// String returns the header's value.
func (p Permissions) String() string {
	var b strings.Builder
	for i, x := range p {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(x.Feature)
		if x.Self {
			b.WriteString("=(self)")
		} else {
			b.WriteString("=()")
		}
	}
	return b.String()
}

// parsePermissions parses a Permissions-Policy. Each feature must be denied to all or allowed
// to the page itself. Any wider rule is an error.
func parsePermissions(value string) (Permissions, error) {
	var p Permissions
	for _, item := range strings.Split(value, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		name, who, ok := strings.Cut(item, "=")
		if !ok || name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return nil, errors.New("Permissions-Policy: " + strconv.Quote(item) + " is not feature=(…)")
		}
		if _, twice := p.Allows(name); twice {
			return nil, errors.New("Permissions-Policy: " + name + " stands twice; browsers keep the last only")
		}
		switch strings.Join(strings.Fields(who), " ") {
		case "()":
			p = append(p, Permission{name, false})
		case "(self)", "self":
			p = append(p, Permission{name, true})
		default:
			return nil, errors.New("Permissions-Policy: " + name + " is open to " + who + "; only () and (self) are supported")
		}
	}
	return p, nil
}
