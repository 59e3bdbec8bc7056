/** The caps of the template language. They bound one rendering, whoever wrote the template and the data. */
export const TEMPLATE_LIMITS = {
  /** UTF-16 units of one rendered part. */
  outputLength: 2_000_000,
  /** Blocks inside blocks. */
  blockDepth: 20,
  /** Rounds of all `#each` blocks of one rendering together. */
  loopIterations: 10_000,
  /** Placeholders and blocks met inside loops: what keeps a long body times many rounds from taking seconds. */
  loopSteps: 1_000_000,
  /** Dots of one path, plus one; a longer path never resolves. */
  pathSegments: 32,
} as const;
