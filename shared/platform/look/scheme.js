// The colour scheme that the reader chose: light, dark, or none for that of the system. It is kept, and set before the
// page is painted. An element with `data-set-scheme` ("", "light" or "dark") sets it.
(() => {
  const root = document.documentElement;
  const kept = () => {
    try {
      return localStorage.getItem('scheme') ?? '';
    } catch {
      return '';
    }
  };
  const show = (scheme) => {
    if (scheme === 'light' || scheme === 'dark') root.dataset.scheme = scheme;
    else delete root.dataset.scheme;
    for (const each of document.querySelectorAll('[data-set-scheme]'))
      each.setAttribute('aria-pressed', String(each.dataset.setScheme === (root.dataset.scheme ?? '')));
  };
  show(kept());
  document.addEventListener('DOMContentLoaded', () => show(kept()));
  addEventListener('storage', () => show(kept()));
  document.addEventListener('click', (event) => {
    const chosen = event.target.closest?.('[data-set-scheme]');
    if (!chosen) return;
    try {
      localStorage.setItem('scheme', chosen.dataset.setScheme);
    } catch {
      // Without storage the choice lasts as long as the page.
    }
    show(chosen.dataset.setScheme);
    dispatchEvent(new Event('schemechange'));
  });
})();
