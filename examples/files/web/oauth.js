// Runs in the window in which the user signed in at a server, once the server has sent them back here. It gives
// the answer in the address to the page that waits for it, which checks it.
(() => {
  'use strict';
  const channel = new BroadcastChannel('bailey-files-oauth');
  channel.postMessage(location.href);
  history.replaceState(null, '', location.pathname); // the code in the address is used once
  setTimeout(() => close(), 100);
})();
