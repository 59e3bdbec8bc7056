// Fills the frame with the HTML that the console hands over, once. The document has an origin of its own, and its policy
// allows neither scripts but this one nor any request.
addEventListener(
  'message',
  ({ source, data }) => {
    if (source !== parent || typeof data !== 'string') return;
    const page = new DOMParser().parseFromString(data, 'text/html');
    for (const each of page.querySelectorAll('script, link, base, meta, iframe, object, embed')) each.remove();
    for (const image of page.querySelectorAll('img:not([src^="data:"])')) image.removeAttribute('src');
    for (const link of page.querySelectorAll('a[href], area[href]')) {
      link.title = link.href;
      link.removeAttribute('href');
    }
    document.replaceChild(document.adoptNode(page.documentElement), document.documentElement);
  },
  { once: true },
);
