// What workflow code pulls in at run time, over any number of files. Types vanish before it runs and are left out here.

const { builtinModules } = require('node:module');

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'workflows-reach-no-machine',
      comment: 'Whatever a workflow reaches is replayed on another machine at another time: no I/O, no database.',
      severity: 'error',
      from: { path: '^workflows/', pathNot: '[.]test[.]ts$' },
      to: { path: '^(shared/(platform|domain|dispatch)|activities|api|worker|cli|local)/', reachable: true },
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
    // Without a file name to go by, the types are stripped into CommonJS.
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
