/** Loaded with `--import`: the clock of the process is `OTHER_CLOCK_MS` milliseconds ahead of that of the machine. */
const Real = Date;
const now = () => Real.now() + Number(process.env['OTHER_CLOCK_MS']);

globalThis.Date = new Proxy(Real, {
  construct: (target, values, self) => Reflect.construct(target, values.length > 0 ? values : [now()], self) as Date,
  get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
});
