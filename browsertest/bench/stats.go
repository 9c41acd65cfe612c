package main

import (
	"math"
	"slices"
)

// quantile returns the q-th quantile of samples by linear interpolation, and NaN for none.
func quantile(samples []float64, q float64) float64 {
	if len(samples) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(samples))
	at := q * float64(len(s)-1)
	i := int(at)
	if i+1 == len(s) {
		return s[i]
	}
	return s[i] + (at-float64(i))*(s[i+1]-s[i])
}

func median(samples []float64) float64 { return quantile(samples, 0.5) }
