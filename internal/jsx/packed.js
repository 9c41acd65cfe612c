// @ts-check
// The twin of Packer in packed.go. It writes fields one after the other, little-endian.
"use strict";

class Packer {
  constructor() {
    this.bytes = new Uint8Array(1024);
    this.view = new DataView(this.bytes.buffer);
    this.length = 0;
    this.text = new TextEncoder();
  }

  /** @param {number} n */
  room(n) {
    if (this.length + n <= this.bytes.length) return;
    const bigger = new Uint8Array(Math.max(this.bytes.length * 2, this.length + n));
    bigger.set(this.bytes.subarray(0, this.length));
    this.bytes = bigger;
    this.view = new DataView(bigger.buffer);
  }

  /** @param {number} v */
  u8(v) {
    this.room(1);
    this.bytes[this.length++] = v;
  }

  /** @param {number} v */
  u32(v) {
    this.room(4);
    this.view.setUint32(this.length, v, true);
    this.length += 4;
  }

  /** @param {number} v */
  f64(v) {
    this.room(8);
    this.view.setFloat64(this.length, v, true);
    this.length += 8;
  }

  /** @param {Uint8Array} v */
  raw(v) {
    this.u32(v.length);
    this.room(v.length);
    this.bytes.set(v, this.length);
    this.length += v.length;
  }

  /** @param {string} v */
  string(v) {
    // UTF-8 has at most three bytes for a UTF-16 unit, so one pass without a copy is enough.
    this.room(4 + v.length * 3);
    const { written } = this.text.encodeInto(v, this.bytes.subarray(this.length + 4));
    this.view.setUint32(this.length, written, true);
    this.length += 4 + written;
  }

  /** Returns the data, in a buffer of its own that can be transferred. */
  packed() {
    return this.bytes.slice(0, this.length);
  }
}
