import { createYields } from '../../../shared/platform/yielding.ts';
import type { Node } from '../../reference/document-node.ts';
import type { ApiExamples } from '../../reference/examples.ts';
import { readCatalogue, type Page } from './catalogue.ts';
import { renderPage, type Assets, type NavigationGroup } from './layout.ts';
import { renderMarkdown, servedTarget } from './markdown.ts';
import { createIndex, sectionsOf, type Section } from './search-index.ts';
import { renderTryIt } from './try-it.ts';

/** The Markdown of a page, whose links lead to pages as Markdown. */
function markdownOf({ file, markdown }: Page): string {
  return markdown.replaceAll(/\]\(([^)\s]+)\)/g, (_, href: string) => {
    const [target = '', fragment] = (servedTarget(file, href) ?? '').split('#');
    const own = target.startsWith('/docs') && !target.includes('.') ? `${target}.md` : target;
    return `](${own}${fragment === undefined ? '' : `#${fragment}`})`;
  });
}

function llmsList({ title, links }: NavigationGroup, url: string): string {
  const items = links.map(
    ({ text, address }) => `- [${text}](${address.startsWith('/') ? `${url}${address}.md` : address})`,
  );
  return `## ${title}\n\n${items.join('\n')}\n`;
}

/**
 * Creates the site from the Markdown files of `docs/` and from the OpenAPI document. Each page is rendered when it is
 * first asked for, and kept.
 */
export async function createSite(document: Node, examples: ApiExamples, assets: Assets) {
  const { pages, navigation, linksFor } = await readCatalogue(document, examples);
  const rendered = new Map<string, string>();
  let index: Promise<string> | undefined;

  function render(page: Page, address: string): string {
    const { file, operation } = page;
    const area = /^reference\b/.test(file) ? 'reference' : 'guides';
    const tryIt = operation && !operation.isWebhook ? renderTryIt(operation, examples[operation.id] ?? []) : undefined;
    const content = { address, area, navigation: navigation[area], tryIt } as const;
    return renderPage({ ...content, ...renderMarkdown(file, page.markdown, linksFor(page)) }, assets);
  }
  async function makeIndex(): Promise<string> {
    const yieldIfDue = createYields();
    const sections: Section[] = [];
    for (const [address, { title, markdown, operation }] of pages) {
      sections.push(...sectionsOf(address, title, markdown, operation));
      await yieldIfDue();
    }
    return createIndex(sections, yieldIfDue);
  }

  return {
    /** The HTML of the page at an address; undefined when there is none. */
    page(address: string): string | undefined {
      const page = pages.get(address);
      const kept = rendered.get(address);
      if (page === undefined || kept !== undefined) return kept;
      const html = render(page, address);
      rendered.set(address, html);
      return html;
    },
    /** The page as Markdown, whose links lead to pages as Markdown. */
    markdown(address: string): string | undefined {
      const page = pages.get(address);
      return page && markdownOf(page);
    },
    /** The HTML for an address without a page. */
    missingPage(): string {
      const markdown = '# Page not found\n\nThe menu has all pages, and the search finds them by their words.\n';
      return render({ file: 'missing.md', title: 'Page not found', markdown }, '');
    },
    /** The index of the search as JSON; see `assets/docs.js`. */
    searchIndex: (): Promise<string> => (index ??= makeIndex()),
    /** The list of all pages for programs that read docs (llmstxt.org). @param url of this server */
    llmsText(url: string): string {
      const reference = navigation.reference.map(({ title, links }) => ({ links, title: `API: ${title}` }));
      return `# Everpost

> An open, self-hosted email platform: transactional email, campaigns and automations over one HTTP API. Every page is
> served as Markdown: at its address with \`.md\`, or by \`Accept: text/markdown\`. OpenAPI: ${url}/openapi.json

${[...navigation.guides, navigation.errors, ...reference].map((group) => llmsList(group, url)).join('\n')}`;
    },
  };
}

export type Site = Awaited<ReturnType<typeof createSite>>;
