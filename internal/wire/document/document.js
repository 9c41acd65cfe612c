// @ts-check
// The wire between the host and the frame of a document. document.go is its twin. A batch is
// JSON, [number, [order, ...], ...]. A message is a string of fields, and its last field may
// contain the separator.

/** @typedef {[string, ...(string | number | boolean | null)[]]} BaileyOrder */
/** @typedef {'ack' | 'size' | 'link' | 'copy' | 'save' | 'open' | 'csv' | 'image' | 'scroll' | 'drag' | 'violation' | 'error'} BaileyKind */

const baileyDocument = {
  /** @param {...(string | number)} fields */
  join: (...fields) => fields.join('\x1f'),
  /** The first message reports whether HTML can be written here, and otherwise the error. @param {string} failure */
  hello: (failure) => (failure ? baileyDocument.join('bailey-document', failure) : 'bailey-document'),
  /** @param {BaileyKind} kind @param {...(string | number)} fields */
  message: (kind, ...fields) => baileyDocument.join(kind, ...fields),
  /** @param {string} text @returns {{seq: number, orders: BaileyOrder[]}} */
  batch: (text) => {
    const orders = JSON.parse(text);
    return { seq: orders.shift(), orders };
  },
};
