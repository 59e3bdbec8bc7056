// Who may import whom, types included. What the values in workflows reach is in scripts/workflow-reach.cjs.

const TESTS = '([.]test[.]ts$)|(^tests/)';

const BASE = ['shared/pure', 'shared/platform', 'shared/database'];
const SHARED = [...BASE, 'shared/sending', 'shared/durable', 'shared/domain'];

/** `from` may use values of nothing but itself and `allowed`, among the rooms of this project. */
function room(from, allowed, reason) {
  const rooms = [`^${from}/`, ...allowed.map((name) => `^${name}/`)].join('|');
  return {
    name: `room-${from.replace('shared/', '')}`,
    comment: `${from} imports ${allowed.length === 0 ? 'only itself' : `itself, ${allowed.join(', ')}`}: ${reason}`,
    severity: 'error',
    from: { path: `^${from}/`, pathNot: TESTS },
    to: { path: '^(shared|activities|workflows|api|worker|cli|clients|local|bench|scripts|tests)/', pathNot: rooms },
  };
}

/** What runs the project from outside may be imported by nobody else. */
function top(name, from) {
  return {
    name: `nobody-imports-${name}`,
    comment: `${name} is a process, not a library.`,
    severity: 'error',
    from: { pathNot: [`^${name}/`, ...from].join('|') },
    to: { path: `^${name}/` },
  };
}

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    room('shared/pure', [], 'it runs inside workflows'),
    room('shared/platform', ['shared/pure'], 'adapters know nothing of the domain'),
    room('shared/database', ['shared/pure', 'shared/platform'], 'statements know no table of a feature'),
    room('shared/sending', BASE, 'the engine knows messages and servers, not campaigns and contacts'),
    room('shared/durable', BASE, 'it does work later and survives, whatever the work is'),
    room('shared/domain', SHARED, 'state and its rules do not depend on their callers'),
    room('activities', SHARED, 'effects are built on the domain'),
    room('api', SHARED, 'requests reach workflows through the outbox'),
    room('worker', [...SHARED, 'activities'], 'workflows are bundled by path'),
    room('cli', [...SHARED, 'local'], 'operators use the domain directly'),
    room('clients', [], 'they are packages of their own'),
    {
      name: 'clients-use-web-apis',
      comment: 'A client has no dependencies, and runs wherever there is fetch.',
      severity: 'error',
      from: { path: '^clients/' },
      to: { dependencyTypes: ['core', 'npm', 'npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
    room('local', ['shared/pure', 'shared/platform'], 'it starts processes and speaks to them from outside'),
    {
      name: 'room-workflows',
      comment: 'Workflows take values from shared/pure, and nothing but types from activities.',
      severity: 'error',
      from: { path: '^workflows/', pathNot: TESTS },
      to: {
        path: '^(shared/(platform|database|sending|durable|domain)|activities|api|worker|cli|local|bench|scripts|tests)/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'workflow-types',
      comment: 'Even a type of workflow code comes from activities or shared/pure only.',
      severity: 'error',
      from: { path: '^workflows/', pathNot: TESTS },
      to: {
        path: '^(shared/(platform|database|sending|durable|domain)|api|worker|cli|local|bench|scripts|tests)/',
      },
    },
    {
      name: 'pure-has-no-machine',
      comment: 'shared/pure has no I/O, no clock and no randomness of its own.',
      severity: 'error',
      from: { path: '^shared/pure/', pathNot: TESTS },
      // node:url has none of these. Workflows may not reach it all the same: scripts/workflow-reach.cjs.
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?url$' },
    },
    {
      name: 'pure-libraries',
      comment: 'Each library in shared/pure can end up in the bundle of the workflows.',
      severity: 'error',
      from: { path: '^shared/pure/', pathNot: TESTS },
      to: { path: 'node_modules/', pathNot: 'node_modules/(zod|entities)/' },
    },
    top('api', ['^tests/', '[.]test[.]ts$']),
    top('worker', ['^tests/', '[.]test[.]ts$']),
    top('cli', ['^tests/', '[.]test[.]ts$']),
    top('bench', []),
    top('scripts', ['^tests/', '[.]test[.]ts$']),
    {
      name: 'testing-only-from-tests',
      comment: 'tests/support is for tests; the bench may use the same sinks.',
      severity: 'error',
      from: { pathNot: `${TESTS}|^bench/` },
      to: { path: '^tests/' },
    },
    {
      name: 'temporal-client-in-one-room',
      comment: 'shared/durable starts and signals workflows. Others hand the client on, or look at what runs.',
      severity: 'error',
      from: {
        path: '^(api|worker|activities|shared)/',
        pathNot: `${TESTS}|^shared/durable/`,
      },
      to: { path: 'node_modules/@temporalio/client/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'migrations-are-frozen',
      comment: 'A migration is a text of its day: a change of today must not change it.',
      severity: 'error',
      from: { path: '^shared/domain/schema/migrations/' },
      to: { path: '^(shared|api|worker|activities|workflows|cli|local)/' },
    },
    {
      name: 'no-test-is-imported',
      comment: 'A test is run, not imported.',
      severity: 'error',
      from: {},
      to: { path: '[.]test[.]ts$' },
    },
    {
      name: 'no-circular',
      comment: 'Files that need each other are one file, or lack a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-unresolvable',
      comment: 'The import leads nowhere.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-development-dependency-in-production',
      comment: 'The image is installed without devDependencies.',
      severity: 'error',
      from: { path: '^(api|worker|cli|activities|workflows|shared)/', pathNot: TESTS },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-undeclared-dependency',
      comment: 'What is imported stands in package.json itself.',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    moduleSystems: ['es6'],
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
      extensions: ['.ts', '.mts', '.js', '.mjs', '.cjs', '.json'],
    },
  },
};
