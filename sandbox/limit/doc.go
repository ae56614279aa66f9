// Package limit lets each caller ask so often and no oftener, by a token bucket for each of them: as many requests at once as the rate has
// in its unit of time, and then one whenever there is room again. Time is told by whoever asks, so a clock that is moved refills.
package limit
