import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Tokens } from 'marked';
import { projectRoot } from '../../../shared/platform/paths.ts';
import { createYields } from '../../../shared/platform/yielding.ts';
import { ERROR_CATALOGUE } from '../../../shared/pure/error-catalogue.ts';
import type { Node } from '../../reference/document-node.ts';
import type { ApiExamples } from '../../reference/examples.ts';
import { createTranslator } from '../code/translate.ts';
import { readShell } from '../code/shell.ts';
import { Schemas } from '../reference/fields.ts';
import { operationPage, referenceHome } from '../reference/operation-page.ts';
import { createFinder, nodesIn, readOperations, type Operation } from '../reference/operations.ts';
import type { NavigationGroup } from './layout.ts';
import { addressOf, headingsOf, lex, linksIn, mentionsIn, servedTarget, type SiteLinks } from './markdown.ts';

const DOCS = path.join(projectRoot, 'docs');
const HOME = 'README.md';
const REFERENCE = 'reference.md';
/** The group of pages that callers of the API do not need. */
const OPERATORS = 'Running it';

/** A page of the docs: a file of `docs/`, or made from the OpenAPI document as if it were one. */
export interface Page {
  /** Relative to `docs/`. */
  file: string;
  title: string;
  markdown: string;
  /** The calls that it mentions as inline code, and its shell blocks. */
  mentions?: { calls: string[]; blocks: string[] };
  operation?: Operation;
}

/** The Markdown files of `docs/`, relative to it. */
export function listFiles(): string[] {
  return readdirSync(DOCS, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll(path.sep, '/'))
    .filter((file) => file.endsWith('.md'))
    .sort();
}

function readGuide(file: string): Page {
  const markdown = readFileSync(path.join(DOCS, file), 'utf8');
  const tokens = lex(markdown);
  return { file, markdown, title: headingsOf(tokens)[0]?.text ?? file, mentions: mentionsIn(tokens) };
}

/** A group of the pages that no list in `docs/README.md` names. The error pages have a list of their own. */
function unlisted(groups: NavigationGroup[], pages: Page[]): NavigationGroup[] {
  const listed = new Set(groups.flatMap(({ links }) => links.map(({ address }) => address)));
  const links = pages
    .filter(({ file }) => file !== HOME && path.posix.dirname(file) !== 'errors' && !listed.has(addressOf(file)))
    .map(({ file, title }) => ({ text: title, address: addressOf(file) }));
  return links.length === 0 ? [] : [{ title: 'More', links }];
}

/**
 * The navigation of the guides: the lists of pages in `docs/README.md`, under their headings, without files of the
 * repository that are not served. An item leads to the page that its first link names.
 */
function readNavigation(pages: Page[]): NavigationGroup[] {
  const groups: NavigationGroup[] = [];
  const home = pages.find(({ file }) => file === HOME)?.markdown ?? '';
  for (const token of lex(home)) {
    if (token.type === 'heading' && token.depth === 2)
      groups.push({ title: (token as Tokens.Heading).text, links: [] });
    for (const item of token.type === 'list' ? (token as Tokens.List).items : []) {
      const [first] = linksIn(item.tokens);
      const address = first && servedTarget(HOME, first.href);
      if (first && address !== undefined) groups.at(-1)?.links.push({ text: first.text, address });
    }
  }
  return [...groups.filter(({ links }) => links.length > 0), ...unlisted(groups, pages)];
}

/** The pages for callers that mention each operation, by its id. */
function findMentions(pages: readonly Page[], operationOf: (call: string) => Operation | undefined) {
  const found = new Map<string, Page[]>();
  for (const page of pages) {
    const { calls, blocks } = page.mentions ?? { calls: [], blocks: [] };
    const requests = blocks.flatMap((block) =>
      (readShell(block) ?? []).flatMap(({ request }) => (request ? [`${request.method} ${request.path}`] : [])),
    );
    const ids = new Set([...calls, ...requests].flatMap((call) => operationOf(call)?.id ?? []));
    for (const id of ids) found.set(id, [...(found.get(id) ?? []), page]);
  }
  return found;
}

const linkTo = ({ title, file }: Page) => ({ text: title, address: addressOf(file) });

async function readGuides(yieldIfDue: () => Promise<void> | undefined): Promise<Page[]> {
  const guides: Page[] = [];
  for (const file of listFiles()) {
    guides.push(readGuide(file));
    await yieldIfDue();
  }
  return guides;
}

/** Creates a function that returns the operation of a call in a text, such as `GET /contacts/<id>`. */
function createLookup(find: ReturnType<typeof createFinder>): (call: string) => Operation | undefined {
  return (call) => {
    const [, method, address] = /^(GET|POST|PUT|PATCH|DELETE) (\/\S*)$/.exec(call) ?? [];
    return method === undefined || address === undefined ? undefined : find(method, address)?.operation;
  };
}

/** Reads the Markdown files of `docs/`, and makes a page for each operation of the OpenAPI document. */
export async function readCatalogue(document: Node, examples: ApiExamples) {
  const yieldIfDue = createYields();
  const operations = readOperations(document);
  const find = createFinder(operations.filter(({ isWebhook }) => !isWebhook));
  const operationOf = createLookup(find);
  const guides = await readGuides(yieldIfDue);
  const navigation = readNavigation(guides);
  const forOperators = new Set(
    navigation.find(({ title }) => title === OPERATORS)?.links.map(({ address }) => address),
  );
  const isForCallers = ({ file }: Page) =>
    !file.startsWith('errors/') && file !== HOME && !forOperators.has(addressOf(file));
  const mentions = findMentions(guides.filter(isForCallers), operationOf);
  await yieldIfDue();
  const schemas = new Schemas(document);
  const reference = operations.map((operation): Page => {
    const { id, node } = operation;
    return {
      file: `reference/${id}.md`,
      title: String(node['summary']),
      operation,
      get markdown() {
        return operationPage(operation, schemas, examples[id] ?? [], mentions.get(id) ?? []);
      },
    };
  });
  const groups = nodesIn(document['tags']).map((tag) => ({
    name: String(tag['name']),
    description: String(tag['description']),
  }));
  const home: Page = { file: REFERENCE, title: 'API reference', markdown: referenceHome(operations, groups) };
  return {
    /** All pages by their addresses. */
    pages: new Map([...guides, home, ...reference].map((page) => [addressOf(page.file), page])),
    /** The pages that the navigation of each part shows, in their order. */
    navigation: {
      guides: navigation,
      reference: groups.map(({ name }) => ({
        title: name,
        links: reference.filter(({ operation }) => operation?.group === name).map(linkTo),
      })),
      errors: { title: 'Errors', links: guides.filter(({ file }) => /^errors\/[A-Z]/.test(file)).map(linkTo) },
    },
    /** What a page knows of the others. */
    linksFor: ({ markdown }: Page): SiteLinks => ({
      errorCodes: new Set(Object.keys(ERROR_CATALOGUE)),
      operationAddress(call) {
        const id = operationOf(call)?.id;
        return id === undefined ? undefined : `/docs/reference/${id}`;
      },
      translate: createTranslator(find, markdown.includes('$PUBLIC_KEY')),
    }),
  };
}
