// Addresses as flood control and rate limits count them: IPv4 whole, IPv6 by /64 (one subscriber has at least that
// much), IPv4-mapped IPv6 as its IPv4.

/** Two 32-bit halves that identify the unit of an address. */
export interface AddressKey {
  readonly high: number;
  readonly low: number;
}

/** Null for text that is no IP address. A zone (`%eth0`) is ignored. */
export function addressKey(address: string): AddressKey | null {
  const low = ipv4(address, 0, address.length);
  // A prefix that no routable /64 has keeps the two families apart.
  if (low !== null) return { high: 0, low };
  return ipv6(address);
}

/** The number of a dotted address at `from`..`to`, or null. It reads characters, because it runs on every request. */
function ipv4(text: string, from: number, to: number): number | null {
  if (to - from > 15) return null;
  let value = 0;
  let part = 0;
  let digits = 0;
  let dots = 0;
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    if (code === 46) {
      if (digits === 0 || ++dots > 3) return null;
      value = value * 256 + part;
      part = digits = 0;
    } else {
      if (code < 48 || code > 57 || ++digits > 3) return null;
      part = part * 10 + code - 48;
      if (part > 255) return null;
    }
  }
  return dots === 3 && digits > 0 ? value * 256 + part : null;
}

function ipv6(text: string): AddressKey | null {
  const zone = text.indexOf("%");
  const words = readWords(text, zone < 0 ? text.length : zone);
  if (words === null) return null;
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = words;
  if (a === 0 && b === 0 && c === 0 && d === 0) {
    if (e === 0 && f === 0xffff) return { high: 0, low: g * 65_536 + h };
    // ::1 and its neighbours share one unit that is no IPv4 address.
    return { high: 1, low: 0 };
  }
  return { high: a * 65_536 + b, low: c * 65_536 + d };
}

/** The eight words of an IPv6 address, `::` filled up, a dotted tail read as two words; null when malformed. */
function readWords(text: string, end: number): number[] | null {
  const words: number[] = [];
  let gap = -1;
  let at = 0;
  if (text.startsWith("::")) {
    gap = 0;
    at = 2;
  }
  while (at < end) {
    const colon = text.indexOf(":", at);
    const stop = colon < 0 || colon > end ? end : colon;
    const word = hexWord(text, at, stop);
    if (word === null) {
      const dotted = stop === end ? ipv4(text, at, end) : null;
      if (dotted === null) return null;
      words.push(Math.floor(dotted / 65_536), dotted % 65_536);
    } else {
      words.push(word);
    }
    if (stop === end) break;
    at = stop + 1;
    if (text.charCodeAt(at) === 58 && at < end) {
      if (gap >= 0) return null;
      gap = words.length;
      at++;
    } else if (at >= end) {
      return null;
    }
  }
  if (gap < 0) return words.length === 8 ? words : null;
  if (words.length > 7) return null;
  words.splice(gap, 0, ...new Array<number>(8 - words.length).fill(0));
  return words;
}

/** One to four hexadecimal digits at `from`..`to`, or null. */
function hexWord(text: string, from: number, to: number): number | null {
  if (to === from || to - from > 4) return null;
  let value = 0;
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    if (code >= 48 && code <= 57) value = value * 16 + code - 48;
    else if ((code | 32) >= 97 && (code | 32) <= 102) value = value * 16 + (code | 32) - 87;
    else return null;
  }
  return value;
}
