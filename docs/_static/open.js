// open the entry that a link leads to, or that holds it
function openEntry() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const entry = target && target.closest("details");
  if (entry) { entry.open = true; target.scrollIntoView(); }
}
addEventListener("hashchange", openEntry);
addEventListener("DOMContentLoaded", openEntry);
