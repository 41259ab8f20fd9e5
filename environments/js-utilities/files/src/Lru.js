export class Lru {
  constructor (capacity) {
    throw new Error('not written yet')
  }
}
