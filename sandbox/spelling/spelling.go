// Package spelling names what somebody may have meant who typed a name that nobody knows.
package spelling

import (
	"fmt"
	"slices"
	"strings"
)

// maxSuggestions is the number of names that a suggestion has: more would have to be searched by eye.
const maxSuggestions = 3

// Suggest names up to three of the known names with the smallest edit distance to name, or tells that none is near.
func Suggest(name string, known []string) string {
	near := Near(name, known)
	switch {
	case len(near) > 0:
		return "did you mean " + strings.Join(near, " or ") + "?"
	case len(known) == 0:
		return "there are none"
	}
	return fmt.Sprintf("there are %d, from %q to %q", len(known), known[0], known[len(known)-1])
}

// Near lists up to three of the known names that are spelled nearly as name is, the nearest first.
func Near(name string, known []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	for _, k := range known {
		distance := editDistance(name, k)
		if distance <= max(len(name), len(k))/2 || name != "" && strings.Contains(k, name) {
			near = append(near, candidate{k, distance})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return a.distance - b.distance })
	names := make([]string, 0, maxSuggestions)
	for _, c := range near[:min(maxSuggestions, len(near))] {
		names = append(names, c.name)
	}
	return names
}

// editDistance is the Levenshtein distance in bytes. Names are short; a longer text is far from each of them.
func editDistance(a, b string) int {
	if len(a) > 64 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
