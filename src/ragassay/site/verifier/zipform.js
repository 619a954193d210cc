// The one form of ZIP that a bundle may have; every byte of the file belongs to something. Numbers are little-endian.
// The rules stand in ragassay/manifest/zipform.py.
(() => {
  "use strict";

  const { VerifyError } = ragassay.errors;
  const { concat, equal } = ragassay.bytes;
  const LOCAL = Uint8Array.of(0x50, 0x4b, 3, 4);
  const CENTRAL = Uint8Array.of(0x50, 0x4b, 1, 2);
  const END = Uint8Array.of(0x50, 0x4b, 5, 6);
  const DESCRIPTOR = Uint8Array.of(0x50, 0x4b, 7, 8);
  const LOCAL_BYTES = 30;
  const CENTRAL_BYTES = 46;
  const END_BYTES = 22;
  const STORED = 0;
  const DEFLATED = 8;
  const FLAG_DESCRIPTOR = 1 << 3;
  const FLAG_UTF8 = 1 << 11;
  const FLAGS = (1 << 1) | (1 << 2) | FLAG_DESCRIPTOR | FLAG_UTF8;
  const FLAGS_ENCRYPTED = (1 << 0) | (1 << 6) | (1 << 13);
  const EXTRA = [0x000a, 0x5455, 0x5855, 0x7855, 0x7875];
  const EXTRA_ZIP64 = 0x0001;

  function damaged(message) {
    throw new VerifyError(message, "BUNDLE_DAMAGED");
  }

  /** Return a raw name for a message: printable ASCII as it is, every other byte as \xNN. */
  function shown(rawName) {
    const chars = Array.from(rawName.subarray(0, 80), (byte) =>
      byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, "0")}`,
    );
    return `'${chars.join("")}'`;
  }

  function startsWith(data, mark, at) {
    return at + mark.length <= data.length && mark.every((byte, i) => data[at + i] === byte);
  }

  function viewOf(data) {
    return new DataView(data.buffer, data.byteOffset, data.byteLength);
  }

  /** Return where the central directory begins and how many entries it has. */
  function readEnd(data) {
    if (!startsWith(data, LOCAL, 0) && !startsWith(data, END, 0)) damaged("this is no ZIP file");
    const place = data.length - END_BYTES;
    if (place < 0 || !startsWith(data, END, place)) {
      damaged("the ZIP file is cut off, or a comment or other bytes stand at its end");
    }
    const view = viewOf(data);
    const [disk, directoryDisk, here, count] = [4, 6, 8, 10].map((at) => view.getUint16(place + at, true));
    const [size, begin] = [12, 16].map((at) => view.getUint32(place + at, true));
    if ([disk, directoryDisk, here, count].includes(0xffff) || [size, begin].includes(0xffffffff)) {
      damaged("the file uses ZIP64; a bundle does not need it");
    }
    if (view.getUint16(place + 20, true) !== 0) damaged("the ZIP file is cut off, or has a comment");
    if (disk !== 0 || directoryDisk !== 0 || here !== count) damaged("the ZIP file is one of several parts");
    const most = ragassay.data.limits.members;
    if (count > most) throw new VerifyError(`the bundle has ${count} members; ${most} are allowed`, "BUNDLE_TOO_LARGE");
    if (begin + size !== place) damaged("the central directory does not end where the end record begins");
    return { begin, count };
  }

  function checkMethod(entry) {
    const name = shown(entry.rawName);
    if (entry.flags & FLAGS_ENCRYPTED) damaged(`${name} is encrypted; a bundle has no password`);
    if (entry.flags & ~FLAGS) damaged(`${name} has flags that a bundle does not use`);
    if (entry.method !== STORED && entry.method !== DEFLATED) {
      damaged(`${name} is compressed by method ${entry.method}; a bundle uses 0 (stored) or 8 (deflate)`);
    }
    if (entry.method === STORED && entry.sizes[1] !== entry.sizes[2]) {
      damaged(`${name} is stored, yet its two sizes differ`);
    }
  }

  function checkExtra(name, extra) {
    const view = viewOf(extra);
    for (let at = 0; at < extra.length; ) {
      if (at + 4 > extra.length) damaged(`${name} has a damaged extra field`);
      const kind = view.getUint16(at, true);
      at += 4 + view.getUint16(at + 2, true);
      if (at > extra.length) damaged(`${name} has a damaged extra field`);
      if (kind === EXTRA_ZIP64) damaged(`${name} uses ZIP64; a bundle does not need it`);
      if (!EXTRA.includes(kind)) damaged(`${name} has an extra field that might change what is read`);
    }
  }

  function readEntry(data, at, end) {
    if (at + CENTRAL_BYTES > end || !startsWith(data, CENTRAL, at)) damaged("the central directory is damaged");
    const view = viewOf(data);
    const short = (place) => view.getUint16(at + place, true);
    const long = (place) => view.getUint32(at + place, true);
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map(short);
    const nameAt = at + CENTRAL_BYTES;
    if (nameAt + nameLength + extraLength + commentLength > end) damaged("the central directory is damaged");
    const entry = {
      rawName: data.subarray(nameAt, nameAt + nameLength),
      flags: short(8),
      method: short(10),
      sizes: [16, 20, 24].map(long), // CRC-32, compressed size, size
      attributes: long(38),
      offset: long(42),
      next: nameAt + nameLength + extraLength,
    };
    const name = shown(entry.rawName);
    if ([entry.sizes[1], entry.sizes[2], entry.offset].includes(0xffffffff)) {
      damaged(`${name} uses ZIP64; a bundle does not need it`);
    }
    if (commentLength !== 0 || short(34) !== 0) damaged(`${name} has a comment or lies in another part`);
    checkMethod(entry);
    checkExtra(name, data.subarray(nameAt + nameLength, entry.next));
    return entry;
  }

  function packed(numbers) {
    const found = new Uint8Array(numbers.length * 4);
    numbers.forEach((number, at) => viewOf(found).setUint32(at * 4, number, true));
    return found;
  }

  /** Return the member that fills the bytes from its offset to `end` exactly. */
  function readMember(data, entry, end) {
    const name = shown(entry.rawName);
    const start = entry.offset + LOCAL_BYTES;
    if (start > end || !startsWith(data, LOCAL, entry.offset)) {
      damaged(`${name} does not begin where the member before it ends`);
    }
    const view = viewOf(data);
    const short = (place) => view.getUint16(entry.offset + place, true);
    const sizes = [14, 18, 22].map((place) => view.getUint32(entry.offset + place, true));
    const extraAt = start + short(26);
    const begin = extraAt + short(28);
    const dataEnd = begin + entry.sizes[1];
    if (dataEnd > end) damaged(`${name} overlaps what follows it`);
    const same = short(6) === entry.flags && short(8) === entry.method;
    if (!same || !equal(data.subarray(start, extraAt), entry.rawName)) damaged(`${name} is described in two ways`);
    checkExtra(name, data.subarray(extraAt, begin));
    const after = data.subarray(dataEnd, Math.min(end, dataEnd + 17));
    const descriptor = (entry.flags & FLAG_DESCRIPTOR) !== 0;
    const agree = sizes.every((here, at) => here === entry.sizes[at] || (descriptor && here === 0));
    if (!agree) damaged(`${name} is described in two ways`);
    const told = packed(entry.sizes);
    const endsWell = descriptor ? equal(after, told) || equal(after, concat(DESCRIPTOR, told)) : after.length === 0;
    if (!endsWell) damaged(`bytes that belong to no member stand after ${name}, or its descriptor is wrong`);
    const { rawName, flags, method, attributes } = entry;
    const [crc, , size] = entry.sizes;
    return { rawName, flags, method, crc, size, attributes, data: data.subarray(begin, dataEnd) };
  }

  /** Return the members in their order; throws BUNDLE_DAMAGED for any other form, BUNDLE_TOO_LARGE for too many. */
  function readMembers(data) {
    const { begin, count } = readEnd(data);
    const end = data.length - END_BYTES;
    const entries = [];
    let at = begin;
    for (let n = 0; n < count; n++) {
      entries.push(readEntry(data, at, end));
      at = entries[n].next;
    }
    if (at !== end) damaged("the central directory holds more than its entries");
    const starts = [...entries.map((entry) => entry.offset), begin];
    if (starts[0] !== 0) damaged("there are bytes before the first member, or the members stand in another order");
    if (Math.max(...starts) > begin) damaged("a member lies outside the file's part for members");
    return entries.map((entry, n) => readMember(data, entry, starts[n + 1]));
  }

  ragassay.zipform = { STORED, FLAG_UTF8, readMembers, shown };
})();
