import { builtinModules } from 'node:module';
import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** Programs of operators and developers: they talk on the terminal and read the environment themselves. */
const TERMINAL_ROOMS = ['cli/**', 'local/**', 'bench/**', 'scripts/**', 'tests/**'];
const TESTS = ['**/*.test.ts', 'tests/**'];
const CONSOLE = ['api/console/web/**/*.mjs'];
const MACHINE_MODULES = `^(node:|(${builtinModules.join('|')})$)`;

const MJS_GLOBALS = words(`
  process console URL fetch AbortSignal Blob FormData setTimeout clearTimeout setInterval clearInterval
`);

const BROWSER_GLOBALS = words(`
  window document location navigator performance crypto fetch matchMedia AbortController FormData HTMLElement
  ResizeObserver URLSearchParams getComputedStyle setTimeout clearTimeout addEventListener removeEventListener
  dispatchEvent Event CustomEvent URL Blob history
`);

const STRIPPABLE_SYNTAX = {
  selector: 'TSEnumDeclaration, TSModuleDeclaration[kind="namespace"]',
  message: 'Node strips types and compiles nothing: use a const object, or a module.',
};
const SPREAD_LITERAL = {
  selector:
    ':matches(ObjectExpression > SpreadElement > ObjectExpression, ArrayExpression > SpreadElement > ArrayExpression)',
  message: 'Write its members in the outer literal.',
};
const MARKUP = {
  selector: 'Identifier[name=/^(innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document.write)$/]',
  message: 'Every value is text.',
};
const ENVIRONMENT = {
  selector: "MemberExpression[object.name='process'][property.name='env']",
  message: 'The environment is read in shared/platform/config.ts; take the value from there.',
};
const ROW_TYPE = {
  selector: 'CallExpression[callee.name=/^(query|queryOne|queryPrepared)$/][typeArguments]',
  message: 'The rows follow from a shape: hand in the columns that the statement returns.',
};
const STATUS_LITERAL = {
  selector: "TaggedTemplateExpression[tag.name='sql'] TemplateElement[value.raw=/'(?!UTC')[A-Z][A-Z_]+'/]",
  message: 'Take the value from shared/database/constants.ts, which has it from the schema.',
};
const TRANSACTION = {
  property: 'transactional',
  message: 'Use inTransaction of shared/database/sql.ts, which repeats what ended in a deadlock.',
};
const CLOCK = {
  selector: "NewExpression[callee.name='Date'][arguments.length=0]",
  message: 'shared/pure has no clock: let the caller hand the time in.',
};

function words(text) {
  return text.trim().split(/\s+/);
}

export default defineConfig(
  { ignores: ['node_modules/', '**/dist/', '.everpost/', 'coverage/', '**/*.js', 'clients/typescript/src/schema.ts'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  {
    files: ['**/*.mjs'],
    ignores: CONSOLE,
    languageOptions: {
      globals: Object.fromEntries(MJS_GLOBALS.map((name) => [name, 'readonly'])),
    },
  },
  {
    // Runs in browsers, and shows what strangers have written.
    files: CONSOLE,
    languageOptions: { globals: Object.fromEntries(BROWSER_GLOBALS.map((name) => [name, 'readonly'])) },
    rules: {
      'no-console': 'error',
      'no-restricted-syntax': ['error', MARKUP, SPREAD_LITERAL],
      'no-restricted-globals': ['error', 'localStorage', 'sessionStorage', 'indexedDB'],
      'no-param-reassign': 'error',
      eqeqeq: 'error',
      'object-shorthand': 'error',
      'max-lines': ['error', 300],
      'max-lines-per-function': ['error', { max: 80, skipBlankLines: true, skipComments: true }],
      complexity: ['error', { max: 20, variant: 'modified' }],
    },
  },
  {
    files: ['**/*.ts', '**/*.mts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      'no-console': 'error',
      'no-restricted-syntax': ['error', STRIPPABLE_SYNTAX, SPREAD_LITERAL, ENVIRONMENT, ROW_TYPE, STATUS_LITERAL],
      'no-restricted-properties': ['error', TRANSACTION],
      eqeqeq: 'error',
      'object-shorthand': 'error',
      'no-param-reassign': 'error',
      'max-lines': ['error', 400],
      'max-lines-per-function': ['error', { max: 80, skipBlankLines: true, skipComments: true }],
      'max-depth': ['error', 4],
      'max-params': ['error', 5],
      complexity: ['error', { max: 20, variant: 'modified' }],

      // A number or a boolean in a text is what it looks like.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      // `(x) => close(x)` reads better than a block, and `return stop()` ends a callback in one line.
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      // What was caught as unknown, or collected for later, may be thrown on as it is.
      '@typescript-eslint/only-throw-error': ['error', { allowThrowingUnknown: true, allowRethrowing: true }],
      '@typescript-eslint/prefer-promise-reject-errors': ['error', { allowThrowingUnknown: true }],
      // `async () => void (await work())` drops a result where a Promise<void> is asked for.
      '@typescript-eslint/no-meaningless-void-operator': 'off',
      // Implementations of an asynchronous interface need not wait for anything.
      '@typescript-eslint/require-await': 'off',
      // Control characters are what mail headers and SMTP replies have to be kept free of.
      'no-control-regex': 'off',
    },
  },
  {
    // Workflow code is replayed: it may not reach the machine, and takes only the types of what does.
    files: ['workflows/**/*.ts'],
    ignores: TESTS,
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          patterns: [
            { regex: MACHINE_MODULES, message: 'A replay would see another machine.' },
            {
              regex: '(^|/)activities(/|$)',
              allowTypeImports: true,
              message: 'Workflows call activities through proxyActivities and import only their types.',
            },
            {
              regex: '/(shared/(platform|database|sending|durable|domain)|api|worker|cli|local)/',
              message: 'Only shared/pure is deterministic.',
            },
            {
              regex: '^(?!@temporalio/(workflow|common)(/|$))[^.]',
              message:
                'Libraries end up in the bundle and in every cached workflow; only @temporalio/workflow is needed.',
            },
          ],
        },
      ],
      // Here a promise nobody waits for fails the workflow task forever, `void` before it or not.
      '@typescript-eslint/no-floating-promises': ['error', { ignoreVoid: false }],
    },
  },
  {
    files: ['shared/pure/**/*.ts'],
    ignores: TESTS,
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        { patterns: [{ regex: MACHINE_MODULES, message: 'shared/pure runs inside workflows, without a machine.' }] },
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: CLOCK.message },
        { object: 'Math', property: 'random', message: 'shared/pure has no randomness: let the caller hand it in.' },
      ],
      'no-restricted-globals': ['error', 'setTimeout', 'setInterval', 'fetch', 'crypto', 'performance'],
      'no-restricted-syntax': ['error', STRIPPABLE_SYNTAX, SPREAD_LITERAL, ENVIRONMENT, CLOCK],
    },
  },
  {
    files: [
      ...TERMINAL_ROOMS,
      'shared/platform/config.ts',
      'shared/durable/temporal/client.ts',
      'shared/platform/paths.ts',
      'tests/support/environment.ts',
    ],
    rules: { 'no-restricted-syntax': ['error', STRIPPABLE_SYNTAX, SPREAD_LITERAL, ROW_TYPE] },
  },
  {
    // The helper itself; migrations, which take turns; workflows, where it names a queue; and tests, which are the opponents.
    files: ['shared/database/sql.ts', 'workflows/**', ...TESTS],
    rules: { 'no-restricted-properties': 'off' },
  },
  {
    // process.ts speaks before there is a logger; bundle-workflows.ts is a build step.
    files: [...TERMINAL_ROOMS, 'shared/platform/process.ts', 'worker/bundle-workflows.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    // Generated, as long as there are columns.
    files: ['shared/database/tables.ts'],
    rules: { 'max-lines': 'off' },
  },
  {
    // A describe is as long as its tests, and a recording as its story.
    files: ['**/*.test.ts', 'tests/record/**'],
    rules: { 'max-lines-per-function': 'off' },
  },
  {
    files: ['**/*.test.ts'],
    rules: { 'no-restricted-syntax': ['error', STRIPPABLE_SYNTAX, SPREAD_LITERAL, ROW_TYPE] },
  },
  {
    files: TESTS,
    rules: {
      // A test asserts the shape of an answer; declaring it first would only say it twice.
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      // What is missing fails the test there and then.
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
);
