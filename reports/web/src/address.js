// The state of the page in the fragment of its address, so that a finding can be sent: what was chosen, and on a page
// that answers knobs the words that were asked. Links to a section have a fragment of their own, without a brace.

export function readAddress() {
  try {
    const read = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    return read !== null && typeof read === 'object' ? read : {};
  } catch {
    return {};
  }
}

/** Members of the address replaced; null or undefined removes one. */
export function writeAddress(values) {
  const now = Object.fromEntries(Object.entries({ ...readAddress(), ...values }).filter(([, value]) => value !== null && value !== undefined));
  history.replaceState(null, '', Object.keys(now).length > 0 ? `#${encodeURIComponent(JSON.stringify(now))}` : location.pathname);
}
