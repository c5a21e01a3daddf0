import type * as FairSemaphore from "./FairSemaphore.ts"
import type * as FairShare from "./FairShare.ts"
import type * as LoopTurns from "./LoopTurns.ts"
import type { Window } from "./SlidingWindow.ts"
import type { Rate, SharedRate } from "./TokenBucket.ts"

/**
 * The policies of all fair structures in one table: what is shared, by which holders, up to which bound, and what
 * happens beyond it. Bounds that a setting or an engine decides are filled in where the structure is made.
 */

/** GET requests of the API, by tenant. One may take long, because a list waits for a turn of its own. Beyond: 503. */
export const reading: FairSemaphore.Options = { places: 256, capacity: 4_096, patienceMs: 5_000, sparesPlaces: true }

/**
 * Requests that change something, by tenant. They are short, and those under way share the work of the thread and of
 * the journal: many at once cost less each, but each waits for all. A tenant alone has 129 places. While there are
 * others, it has 2, and rests while the thread is busy. Beyond: 503.
 */
export const changing: FairSemaphore.Options = { ...reading, shared: { each: 2, withinMs: 60_000 } }

/**
 * Requests with long bodies, by tenant. There are few places because each body is in memory from its first byte to the
 * answer; a tenant alone has 5. The wait for a turn is as long as possible, with some time left to read the body: the
 * server gives up a request that is not complete 30 seconds after its first byte (`edge/http/Server.ts`). Beyond: 503.
 */
export const longBodies: FairSemaphore.Options = { places: 8, capacity: 256, patienceMs: 20_000, sparesPlaces: true }

/**
 * The pace that a long body keeps while another tenant waits for a place. `longestMs` is less than the patience of
 * `longBodies`, so a request that waits gets a place.
 */
export const longBodyPace = { checkMs: 500, windowMs: 2_000, leastBytes: 128 * 1024, longestMs: 15_000 }

/**
 * Lists, by tenant: one after the other, each after a rest as long as the one before took, because it also used the
 * processor and the event loop. Each place is a connection to the database. Beyond: 503.
 */
export const lists = {
  places: 2,
  each: 1,
  rests: 1,
  capacity: 1_024,
  patienceMs: 5_000
} satisfies FairSemaphore.Options

/** Files of porting orders that are written, by tenant. Each holds a connection to the database. Beyond: 503. */
export const portingFiles: FairSemaphore.Options = { places: 2, capacity: 256 }

/** API keys that are not in memory: looked up and hashed, by site. Beyond: 503. */
export const newKeys: FairSemaphore.Options = { places: 4, capacity: 256, patienceMs: 5_000 }

/** Passwords that are hashed, by site. Each takes a core for a tenth of a second, and 32 MiB. Beyond: 503. */
export const passwords = { capacity: 256, patienceMs: 10_000 }

/** Sounds that are fetched, by tenant. Beyond: the playback fails as `overloaded`. */
export const fetches = { places: 32, capacity: 512, each: 16 } satisfies FairSemaphore.Options

/** Utterances of a speech engine, by tenant; a later one comes too late for its call. Beyond: `overloaded`. */
export const utterances = { capacity: 512, patienceMs: 10_000, sparesPlaces: true }

/** Recordings that are sent to the store, by tenant. Each is on the disk meanwhile. Beyond: it is tried again. */
export const recordings: FairSemaphore.Options = { places: 8, capacity: 100_000 }

/** Recordings that are encoded as MP3, by tenant. The scheduler shares the cores between them, after all other work. */
export const encodings: FairSemaphore.Options = { places: 4, capacity: 100_000 }

/** Sounds that are fetched or wait for it, by tenant. Beyond: `overloaded`. */
export const flights: FairShare.Capacity = { capacity: fetches.capacity }

/** Sound files that are decoded, by tenant. Each takes about half a MiB while it is played. Beyond: `overloaded`. */
export const decodedFiles: FairShare.Capacity = { capacity: 512 }

/**
 * Portions of what WebSocket servers send, in each turn of the event loop, by tenant: each takes up to 0.2 ms of the
 * thread. One connection waits for one portion at a time, so the capacity is more than all connections of a thread.
 */
export const socketTurns = { places: 1, perTurn: 4, capacity: 1_000_000 } satisfies LoopTurns.Options

/** Octets of waiting sound from the servers of streams in a thread, by tenant. Beyond: the sound is dropped. */
export const streamSound: FairShare.Capacity = { capacity: 256 * 1024 * 1024 }

/**
 * Legs of the media plane, and their pairs of RTP ports, by tenant: one alone has nine tenths, and two come to equal
 * shares as calls end. Beyond: the call fails.
 */
export const legs = { times: 9 }

/**
 * Connections that begin to be worked for, by site, and their further requests. Fewer would cost everybody more:
 * requests that begin together are looked up and committed together, and a statement for a few costs nearly as much as
 * one for many. Beyond: they wait unread.
 */
export const connectionTurns = { perTurn: 16, sparesPlaces: true, capacity: Infinity }

/** Attempts at webhook deliveries that begin, by tenant; each costs the event loop some tenths of a millisecond. */
export const attemptTurns = { perTurn: 4, capacity: Infinity }

/** Long bodies that are read, by tenant. Each waits at most once, and far fewer than `capacity` are under way. */
export const bodyTurns: LoopTurns.Options = { perTurn: 1, isDeferred: true, places: 1, capacity: 65_536 }

/** Answers to strangers, by source: enough to test the port, too few to attack a third party. Beyond: no answer. */
export const strangerAnswers: SharedRate = {
  each: { burst: 10, everyMs: 1_000 },
  all: { burst: 200, everyMs: 10 },
  mostHolders: 10_000
}

/**
 * Messages of strangers that are read, by source: at some 10 microseconds each, a flood takes less than 1 % of a core.
 * Beyond: they are dropped.
 */
export const strangerMessages: SharedRate = {
  each: { burst: 20, everyMs: 100 },
  all: { burst: 500, everyMs: 2 },
  mostHolders: 10_000
}

/** Messages of a known peer that begin something: more than the calls that the service accepts in a second. */
export const peerStarts: Rate = { burst: 1_000, everyMs: 2 }

/** Messages that name a Call-ID of ours, by source: several for as many calls. Beyond: they are dropped. */
export const callMessages: Rate = { burst: 4_000, everyMs: 0.5 }

/** Lines of the security log, of all sources together: 10 a second. Beyond: they are counted. */
export const securityLines: Rate = { burst: 50, everyMs: 100 }

/**
 * Digits of a far end; one each 40 ms is the shortest digit of ITU-T Q.24, and no caller presses so many. Without the
 * limit, a far end that floods its leg would cause a commit and an event for each digit. Beyond: they are dropped.
 */
export const digits: Rate = { burst: 64, everyMs: 40 }

const hourMs = 3_600_000

/**
 * Valid requests of the routes without a key, guide/limits.md#rates. Beyond: 429. The setting
 * `SIGNUP_LIMIT_PER_HOUR` is the limit of `signup`, and of joining a team.
 */
export const unauthenticated = (options: { readonly signupPerHour: number }) =>
  ({
    signup: { limit: options.signupPerHour, windowMs: hourMs },
    verify_email: { limit: 20, windowMs: hourMs },
    resend_by_ip: { limit: 10, windowMs: hourMs },
    resend_by_email: { limit: 3, windowMs: hourMs },
    billing_webhook: { limit: 600, windowMs: 60_000 },
    reset_by_ip: { limit: 10, windowMs: hourMs },
    reset_by_email: { limit: 3, windowMs: hourMs },
    confirm_reset: { limit: 20, windowMs: hourMs },
    accept_invitation: { limit: options.signupPerHour, windowMs: hourMs },
    /** Counted by address and e-mail together. */
    login: { limit: 10, windowMs: hourMs / 4 }
  }) satisfies Record<string, Window>

/**
 * Logins that failed, or whose password is being looked at: by address, by the site of the address, and by account. An
 * office with one address seldom fails so often. Beyond: 429; for an account, only to networks from which its member
 * has not logged in.
 */
export const logins = {
  address: { limit: 30, windowMs: hourMs / 4 },
  site: { limit: 90, windowMs: hourMs / 4 },
  account: { limit: 20, windowMs: hourMs }
} satisfies Record<string, Window>

const dayMs = 24 * hourMs
type Alternatives = ReadonlyArray<ReadonlyArray<Window>>
const free: Alternatives = [[]]
const none: Alternatives = []
const everyFourHours: ReadonlyArray<Window> = [{ limit: 1, windowMs: 4 * hourMs }]

/**
 * Letters by kind: for a mailbox, from a workspace, and from one workspace to one mailbox. Each is a list of
 * alternatives, one of which must have room in all of its windows. `spare` are further alternatives to the limit of the
 * workspace, counted from one workspace to one mailbox. Beyond, no letter is written.
 *
 * A limit that strangers can use up leaves its reader a way in: a link to confirm an address works for seven days, and
 * when the resets of a mailbox or a workspace are used up, the mailbox gets another one every four hours.
 */
export const letters = {
  verification: {
    mailbox: [
      [
        { limit: 3, windowMs: hourMs },
        { limit: 5, windowMs: dayMs },
        { limit: 10, windowMs: 7 * dayMs }
      ]
    ],
    // Only the address that was signed up is not confirmed yet, so its own limit is reached first.
    workspace: [[{ limit: 10, windowMs: dayMs }]],
    spare: none,
    both: free
  },
  password_reset: {
    mailbox: [
      [
        { limit: 3, windowMs: hourMs },
        { limit: 6, windowMs: dayMs }
      ],
      everyFourHours
    ],
    workspace: [
      [
        { limit: 30, windowMs: hourMs },
        { limit: 100, windowMs: dayMs }
      ]
    ],
    spare: [everyFourHours],
    both: free
  },
  invitation: {
    mailbox: [[{ limit: 10, windowMs: dayMs }]],
    workspace: [[{ limit: 100, windowMs: dayMs }]],
    spare: none,
    both: [[{ limit: 3, windowMs: dayMs }]]
  },
  /** The workspace has no confirmed owner. */
  invitation_unconfirmed: {
    mailbox: [[{ limit: 3, windowMs: dayMs }]],
    workspace: [[{ limit: 10, windowMs: dayMs }]],
    spare: none,
    both: free
  },
  /** About money, numbers and the state of the workspace, to its own members. */
  notice: {
    mailbox: [[{ limit: 100, windowMs: dayMs }]],
    workspace: [[{ limit: 1_000, windowMs: dayMs }]],
    spare: none,
    both: free
  }
} satisfies Record<string, Record<"mailbox" | "workspace" | "spare" | "both", Alternatives>>
