package requirement

import (
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file reads what a document says of page sizes that the node replaces by greater ones.

// A raise is how a node raises small page sizes.
type raise struct {
	says  bool  // the document says that small sizes are raised, or that sizes are rounded up
	floor int   // smaller sizes become this one; 0 if the document does not name it
	steps []int // sizes become the next of these
	tens  int   // sizes become the next multiple of this one
}

// largest returns how many items a page may have if the client asks for so many. honoured is the smallest page that a client got as it asked for it, and
// seen is the size of the page that the smallest size gave. They stand for the floor that the document does not name.
func (r raise) largest(size, honoured, seen int) int {
	switch {
	case !r.says:
		return size
	case r.tens > 0:
		return (size + r.tens - 1) / r.tens * r.tens
	case len(r.steps) > 0:
		if i := slices.IndexFunc(r.steps, func(step int) bool { return step >= size }); i >= 0 {
			return r.steps[i]
		}
		return size
	case r.floor > 0:
		return max(size, r.floor)
	case honoured > 0 && size >= honoured:
		return size
	}
	return max(size, seen)
}

// raiseOf reads how the node raises small page sizes, from the description of the size parameter.
func raiseOf(p openapi.Parameter) raise {
	const small = `\b(?:small\w*|lower|less|fewer|below|under|kleine\w*|niedrig\w*|gering\w*|unter)\b`
	const raised = `\b(?:raised|increased|angehoben|erhöht)(?:[^\pL]|$)`
	raises := regexp.MustCompile(`(?i)` + small + `.*` + raised + `|` + raised + `.*` + small)
	rounds := regexp.MustCompile(`(?i)\b(?:rounded up|rounds up|aufgerundet|rounded to the (?:next|nearest))\b|\brundet\b.* auf$`)
	// Another thing is raised, such as an error; or a client raises the size; or nothing does.
	other := regexp.MustCompile(`(?i)(?:errors?|exceptions?|fehler)\b|\b(?:can|could|clients?|you|kann|können|sie) |\b(?:not|never|nicht|nie) (?:be )?(?:raised|increased|rounded|gerundet|aufgerundet|angehoben|erhöht)|\brounded down\b|\babgerundet\b`)
	var r raise
	for _, sentence := range openapi.Sentences(p.Description) {
		if other.MatchString(sentence) {
			continue
		}
		switch {
		case rounds.MatchString(sentence):
			r.says = true
			if multiple := regexp.MustCompile(`(?i)\b(?:multiples? of|vielfache\w*(?: von)?) (\d{1,4})\b`).FindStringSubmatch(sentence); multiple != nil {
				r.tens, _ = strconv.Atoi(multiple[1])
			}
			r.steps = numbersIn(p.Description)
		case raises.MatchString(sentence):
			r.says = true
			if to := regexp.MustCompile(`(?i)\b(?:to|auf) (?:the minimum of |das minimum von )?(\d{1,4})\b`).FindStringSubmatch(sentence); to != nil {
				r.floor, _ = strconv.Atoi(to[1])
			} else if below := regexp.MustCompile(`(?i)\b(?:below|under|than|unter|als) (\d{1,4})\b`).FindStringSubmatch(sentence); below != nil {
				r.floor, _ = strconv.Atoi(below[1])
			}
		}
	}
	if least := p.Schema.Minimum; r.says && r.floor == 0 && least != nil && *least > 1 && *least <= maxElements {
		r.floor = int(math.Ceil(*least))
	}
	return r
}

// numbersIn returns the numbers in a text, in ascending order.
func numbersIn(text string) []int {
	var out []int
	for _, word := range regexp.MustCompile(`\b\d{1,4}\b`).FindAllString(text, maxElements) {
		if n, err := strconv.Atoi(word); err == nil && n > 0 {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// largestPage returns a function that tells how many items a page of the list may have if the client asks for so many.
func largestPage(e Evidence) func(size int) int {
	o, _ := operation(e, e.Roles.List)
	p, _ := o.QueryWithRole(openapi.SizeRole)
	r := raiseOf(p)
	honoured, seen := 0, 0
	if r.says {
		if items, err := e.itemsOf(e.exchange(evidence.ListOperation.With("size-2"))); err == nil {
			seen = len(items)
		}
		for _, x := range listAnswers(e) {
			size, err := strconv.Atoi(x.Given["size"])
			items, errItems := e.itemsOf(x)
			if err == nil && errItems == nil && success(x) && len(items) == size && listPageOf(e, x).Next() != "" && (honoured == 0 || size < honoured) {
				honoured = size
			}
		}
	}
	return func(size int) int { return r.largest(size, honoured, seen) }
}
