// The order of the folders of shared/domain, shared/sending and shared/durable, type imports included. Tests are left
// out, because they may use every floor.

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'domain-floors',
      comment: 'The folders depend on each other in one direction. docs/architecture.md lists the floors.',
      severity: 'error',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
  ],
  options: {
    includeOnly: '^shared/(domain|sending|durable)/',
    exclude: '[.]test[.]ts$',
    moduleSystems: ['es6'],
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts'] },
  },
};
