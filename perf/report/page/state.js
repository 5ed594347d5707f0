// The address stores the state of the view after '#', so that a view can be linked, reloaded and revisited.

function state() { return new URLSearchParams(location.hash.slice(1)); }

// The address of the current view with some parts changed; empty parts are omitted.
function linkTo(changes) {
  const next = state();
  for (const [key, value] of Object.entries(changes)) value ? next.set(key, value) : next.delete(key);
  return `#${next}`;
}
function go(changes) { location.hash = linkTo(changes); }
function pageLink(page, parts = {}) { return `#${new URLSearchParams({page, ...parts})}`; }

function rowId(row) { return `${row.case} ${row.variant} ${row.mode}`; }
