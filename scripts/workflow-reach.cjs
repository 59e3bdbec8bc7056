// The modules that workflow code loads at run time, directly or through others. Type imports do not exist at run time.

const { builtinModules } = require('node:module');

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'workflows-reach-no-machine',
      comment: 'Workflow code is replayed on other machines at other times, so it may use no I/O and no database.',
      severity: 'error',
      from: { path: '^workflows/', pathNot: '[.]test[.]ts$' },
      to: {
        path: '^(shared/(platform|database|sending|durable|domain)|activities|api|worker|cli|local)/',
        reachable: true,
      },
    },
    {
      name: 'workflows-reach-no-library',
      comment: 'A library is loaded again for each worker and may keep state between workflows.',
      severity: 'error',
      from: { path: '^workflows/', pathNot: '[.]test[.]ts$' },
      to: {
        path: 'node_modules/',
        pathNot: 'node_modules/@temporalio/(workflow|common)/',
        reachable: true,
      },
    },
    {
      name: 'workflows-reach-no-node',
      comment: 'The sandbox of a workflow has no modules of Node.',
      severity: 'error',
      from: { path: '^workflows/', pathNot: '[.]test[.]ts$' },
      to: { path: `^(node:)?(${builtinModules.join('|')})$`, reachable: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // dependency-cruiser strips the types into CommonJS, because it does not see the file name then.
    moduleSystems: ['es6', 'cjs'],
    tsPreCompilationDeps: false,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json'],
    },
  },
};
