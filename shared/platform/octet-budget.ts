/** Gives back what was taken. */
export type Release = () => void;

/** Octets of memory that several pieces of work share. */
export interface OctetBudget {
  /**
   * Takes octets in the order of the calls. A request for more than the budget takes the whole budget.
   * @returns undefined when there are not enough within `waitMs`
   */
  take: (octets: number, waitMs: number) => Promise<Release | undefined>;
}

interface Waiting {
  octets: number;
  grant: () => void;
}

/** Creates a budget of so many octets. */
export function createOctetBudget(total: number): OctetBudget {
  let free = total;
  let queue: Waiting[] = [];

  function grantNext(): void {
    for (let next = queue[0]; next && next.octets <= free; next = queue[0]) {
      queue.shift();
      free -= next.octets;
      next.grant();
    }
  }

  function releaseOf(octets: number): Release {
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      free += octets;
      grantNext();
    };
  }

  return {
    take(wanted, waitMs) {
      const octets = Math.min(wanted, total);
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          queue = queue.filter((waiting) => waiting !== own);
          grantNext();
          resolve(undefined);
        }, waitMs);
        const own: Waiting = {
          octets,
          grant() {
            clearTimeout(timer);
            resolve(releaseOf(octets));
          },
        };
        queue.push(own);
        grantNext();
      });
    },
  };
}
