// The language of code that the reader chose. It is kept, and set before the page is painted, so nothing moves.
(() => {
  const root = document.documentElement;
  const LANGUAGES = ['curl', 'ts', 'python'];
  const show = (language) => {
    root.dataset.code = LANGUAGES.includes(language) ? language : 'curl';
    for (const each of document.querySelectorAll('[data-set-code]'))
      each.setAttribute('aria-pressed', String(each.dataset.setCode === root.dataset.code));
  };
  const kept = () => {
    try {
      return localStorage.getItem('code');
    } catch {
      return null;
    }
  };
  show(kept());
  addEventListener('storage', () => show(kept()));
  document.addEventListener('DOMContentLoaded', () => show(kept()));
  document.addEventListener('click', (event) => {
    const chosen = event.target.closest?.('[data-set-code]');
    if (!chosen) return;
    const top = chosen.getBoundingClientRect().top;
    try {
      localStorage.setItem('code', chosen.dataset.setCode);
    } catch {
      // Without storage the choice lasts as long as the page.
    }
    show(chosen.dataset.setCode);
    // Blocks above may be of another height now; what was pressed stays where it is.
    scrollBy(0, chosen.getBoundingClientRect().top - top);
  });
})();
