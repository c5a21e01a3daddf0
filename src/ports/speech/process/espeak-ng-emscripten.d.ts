declare module "@echogarden/espeak-ng-emscripten" {
  interface Worker {
    readonly samplerate: number
    set_voice(name: string, language: string, gender: number, age: number, variant: number): number
    /** Blocks until everything is spoken, or `callback` returns true. */
    synthesize(ssml: string, callback: (samples: Int16Array | null, events: ReadonlyArray<unknown>) => boolean): void
  }
  export default function load(): Promise<{ readonly eSpeakNGWorker: new () => Worker }>
}
