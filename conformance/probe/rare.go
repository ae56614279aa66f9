package probe

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/recorder"
)

// This file draws the records whose details are requested. A node often fails for a few records only: those with an odd id, without a member that others
// have, or with 0, false, null or nothing in it. So such records are requested first, on whichever page they are.

// records are the items of a list on all pages that the run read before it requests details, each once.
type records struct {
	texts [][]byte
	known map[string]bool // by id
	// drawn are the ids that were drawn for a detail operation; nil after more records were read.
	drawn map[evidence.Resource][]string
}

// learnRecords keeps those items of a list that no earlier page had.
func (r *run) learnRecords(at evidence.Resource, texts [][]byte) {
	identity := r.identityAt(at).Member
	r.facts.with(func(f *facts) {
		kept := f.records[at]
		if kept == nil {
			kept = &records{known: map[string]bool{}}
			f.records[at] = kept
		}
		for _, text := range texts {
			if len(kept.texts) == maxRows {
				return
			}
			if id := cmp.Or(sendableValues(text, identity)...); id != "" && !kept.known[id] && text[0] == '{' {
				kept.known[id], kept.texts, kept.drawn = true, append(kept.texts, text), nil
			}
		}
	})
}

// learnPageRecords keeps the items of a page.
func (r *run) learnPageRecords(at evidence.Resource, a recorder.Answer) {
	if list, ok := openapi.ReadList(a.Body); ok && a.Status/100 == 2 {
		r.learnRecords(at, list.Items)
	}
}

// drawnIDs returns the ids that are drawn for the run from the records of a list: first any id, then ids whose records have rare traits that the earlier
// ones lack, and those that every run requests.
func (r *run) drawnIDs(list, detail evidence.Resource) []string {
	var texts [][]byte
	var drawn []string
	r.facts.with(func(f *facts) {
		if kept := f.records[list]; kept != nil {
			texts, drawn = kept.texts, kept.drawn[detail]
		}
	})
	if drawn != nil {
		return drawn
	}
	items := readItems(r.identityAt(list).Member, texts)
	ids := plainIDs(items)
	if len(ids) == 0 {
		return nil
	}
	source := r.source(detail, "items")
	sampled := sampleIDs(r.facts.itemsOf(list))
	// The first drawn item is requested several times in a row. Other lanes request the sampled items meanwhile, which could hide replicas that take turns.
	if others := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(sampled, id) }); len(others) > 0 {
		ids = others
	}
	drawn = []string{ids[source.Below(len(ids))]}
	if hasOtherKinds(items) || !r.hasSubtypes(detail) {
		ids = servedIDs(withoutKinds(items))
	} else {
		ids = servedIDs(items)
	}
	if len(ids) < 3 {
		return nil
	}
	requested := append(sampled, drawn...)
	drawn = append(drawn, drawRare(traitsOfRecords(items, texts), ids, requested, len(evidence.DrawnItems())+len(evidence.MoreItems())-1, source)...)
	r.facts.with(func(f *facts) {
		if kept := f.records[list]; len(kept.texts) == len(texts) {
			if kept.drawn == nil {
				kept.drawn = map[evidence.Resource][]string{}
			}
			kept.drawn[detail] = drawn
		}
	})
	return drawn
}

// hasSubtypes reports whether the answer of an operation has subtypes. The published API has subtypes for calls and programmes only, so that a node need not
// serve details of other kinds.
func (r *run) hasSubtypes(at evidence.Resource) bool {
	o, _ := r.operation(at)
	for _, s := range o.Responses["200"].Content {
		if !isOneKind(s) {
			return true
		}
	}
	return len(o.Responses["200"].Content) == 0
}

// isOneKind reports whether all records, in an envelope or not, follow one schema that names no kinds, or also other kinds than calls and programmes.
func isOneKind(s openapi.Schema) bool {
	if s.Subtypes || s.Type == "" { // no schema, or one that is too long to be read
		return false
	}
	for _, name := range []string{"data", "item", "content", "result"} {
		if inner, ok := s.Properties[name]; ok && inner.Type == "object" && !isOneKind(inner) {
			return false
		}
	}
	kinds := s.Properties["type"].Enum
	return len(kinds) == 0 || slices.ContainsFunc(kinds, func(kind string) bool { return kind != "CALL" && kind != "PROGRAMME" })
}

// trait is something that a node may treat in another way, and how much it counts.
type trait struct {
	name   string
	weight int
}

// Weights of traits. A record whose id cannot be requested is lost, so an odd id counts more than all that a record may lack.
const (
	ordinaryWeight = 1
	rareWeight     = 3
	idWeight       = 50
)

// drawRare draws up to n of the ids: those whose records have the most traits that no requested record has, then rare traits that only one requested record
// has, because one record may have been changed meanwhile, then any.
func drawRare(traits map[string][]trait, ids, requested []string, n int, source draw.Source) []string {
	seen, taken := map[string]int{}, map[string]bool{}
	take := func(id string) {
		if taken[id] {
			return
		}
		taken[id] = true
		for _, t := range traits[id] {
			seen[t.name]++
		}
	}
	for _, id := range requested {
		take(id)
	}
	start := source.Below(len(ids))
	best := func(isWanted func(t trait) bool) string {
		found, bestSum := "", 0
		for i := range ids {
			id, sum := ids[(start+i)%len(ids)], 0
			for _, t := range traits[id] {
				if isWanted(t) {
					sum += t.weight
				}
			}
			if !taken[id] && sum > bestSum {
				found, bestSum = id, sum
			}
		}
		return found
	}
	var out []string
	for len(out) < n {
		id := best(func(t trait) bool { return seen[t.name] == 0 })
		if id == "" {
			id = best(func(t trait) bool { return seen[t.name] == 1 && t.weight > ordinaryWeight })
		}
		for i := 0; id == "" && i < len(ids); i++ {
			if other := ids[(start+i)%len(ids)]; !taken[other] {
				id = other
			}
		}
		if id == "" {
			return out
		}
		out = append(out, id)
		take(id)
	}
	return out
}

// Bounds of the members in which traits are looked for.
const (
	maxTraitPaths = 100
	maxTraitDepth = 3
	maxElements   = 3 // of an array
)

// traitsOfRecords returns the traits of records by their ids.
func traitsOfRecords(items []item, texts [][]byte) map[string][]trait {
	paths := map[string]bool{}
	found := make([]traitsFound, len(items))
	shapes := vocabularyCount{}
	for i, record := range items {
		found[i] = traitsFound{paths: paths, values: map[string]map[string]bool{}, owners: map[string]bool{}, sizes: map[string]float64{}}
		found[i].read("", texts[i], maxTraitDepth)
		shapes.add("", shapeOf(record.id))
	}
	words, present := vocabularyCount{}, map[string]int{}
	for _, f := range found {
		for path, values := range f.values {
			present[path]++
			for v := range values {
				if word, is := strings.CutPrefix(v, wordPrefix); is {
					words.add(path, word)
				}
			}
		}
	}
	smallest, largest := extremes(found)
	out := map[string][]trait{}
	for i, record := range items {
		traits := traitsOfID(record.id)
		if shapes.isVocabulary("") {
			traits = append(traits, trait{"id like " + shapeOf(record.id), rareWeight})
		}
		for _, path := range slices.Sorted(maps.Keys(paths)) {
			values, has := found[i].values[path]
			switch {
			case !has && found[i].owners[ownerOf(path)]:
				traits = append(traits, trait{path + " absent", rareWeight})
			case has && 2*present[path] < len(items):
				traits = append(traits, trait{path + " present", rareWeight})
			}
			if size, sized := found[i].sizes[path]; sized && smallest[path] < largest[path] {
				switch size {
				case smallest[path]:
					traits = append(traits, trait{path + " smallest", rareWeight})
				case largest[path]:
					traits = append(traits, trait{path + " largest", rareWeight})
				}
			}
			for _, v := range slices.Sorted(maps.Keys(values)) {
				switch {
				case strings.HasPrefix(v, wordPrefix) && !words.isVocabulary(path):
				case strings.HasPrefix(v, rarePrefix):
					traits = append(traits, trait{path + " " + v, rareWeight})
				default:
					traits = append(traits, trait{path + " " + v, ordinaryWeight})
				}
			}
		}
		out[record.id] = traits
	}
	return out
}

// extremes returns the smallest and the largest size of each member.
func extremes(found []traitsFound) (smallest, largest map[string]float64) {
	smallest, largest = map[string]float64{}, map[string]float64{}
	for _, f := range found {
		for path, size := range f.sizes {
			if low, known := smallest[path]; !known || size < low {
				smallest[path] = size
			}
			if high, known := largest[path]; !known || size > high {
				largest[path] = size
			}
		}
	}
	return smallest, largest
}

// vocabularyCount counts the values of members, by path and value.
type vocabularyCount map[string]map[string]int

func (c vocabularyCount) add(path, value string) {
	if c[path] == nil {
		c[path] = map[string]int{}
	}
	c[path][value]++
}

// isVocabulary reports whether the values of a member repeat, so that they may be words of a vocabulary and not names.
func (c vocabularyCount) isVocabulary(path string) bool {
	total := 0
	for _, n := range c[path] {
		total += n
	}
	return 2*len(c[path]) <= total
}

// These mark kinds of values in [traitsFound].
const (
	wordPrefix = "word "
	rarePrefix = "rare "
)

// traitsFound are the kinds of values of one record, by member path, and the paths of its objects. The size of a member is its value if it is a number, or
// else its length.
type traitsFound struct {
	paths  map[string]bool // of all records
	values map[string]map[string]bool
	owners map[string]bool
	sizes  map[string]float64
}

// read reads an object of the record. Paths end with [] for the objects in an array.
func (f traitsFound) read(owner string, object []byte, depth int) {
	f.owners[owner] = true
	members := openapi.Object(object)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		path := owner + "\x00" + name
		if !f.paths[path] && len(f.paths) == maxTraitPaths {
			continue
		}
		f.paths[path] = true
		if f.values[path] == nil {
			f.values[path] = map[string]bool{}
		}
		value := members[name]
		switch openapi.FirstByte(value) {
		case '{':
			if inner := openapi.Object(value); len(inner) == 0 {
				f.values[path][rarePrefix+"empty"] = true
			} else if depth > 1 {
				f.read(path, value, depth-1)
			}
		case '[':
			elements, _ := openapi.Split(value)
			if len(elements) == 0 {
				f.values[path][rarePrefix+"empty"] = true
			}
			for _, element := range elements[:min(len(elements), maxElements)] {
				if openapi.FirstByte(element) == '{' && depth > 1 {
					f.read(path+"[]", element, depth-1)
				}
			}
		default:
			for _, kind := range kindsOfScalar(value) {
				f.values[path][kind] = true
			}
			f.sizes[path] = sizeOfScalar(value)
		}
	}
}

// ownerOf returns the path of the object that has a member.
func ownerOf(path string) string { return path[:strings.LastIndexByte(path, 0)] }

// kindsOfScalar returns what may be special about a scalar of a record.
func kindsOfScalar(text []byte) []string {
	value := strings.TrimSpace(string(text))
	switch value {
	case "null", "true", "false":
		return []string{rarePrefix + value}
	case `""`:
		return []string{rarePrefix + "empty"}
	}
	v := strings.Trim(value, `"`)
	number, errNumber := strconv.ParseFloat(v, 64)
	if errNumber == nil && number <= 0 {
		return []string{rarePrefix + map[bool]string{true: "zero", false: "negative"}[number == 0]}
	}
	var out []string
	day, errDay := time.Parse(time.DateOnly, v[:min(len(v), len(time.DateOnly))])
	switch {
	case errDay == nil && day.Month() > 3 && day.Month() < 11:
		out = append(out, "summer")
	case errDay == nil:
		out = append(out, "winter")
	case errNumber == nil: // some libraries write large and small numbers in another form
		integer, _, isFraction := strings.Cut(v, ".")
		out = append(out, fmt.Sprintf("%d digits, fraction %t", len(integer), isFraction))
	case len(v) <= maxWordTrait && !strings.ContainsAny(v, "0123456789 "):
		out = append(out, wordPrefix+v)
	}
	for _, sign := range []string{"&", "<", `\"`, "'", "%", "\\", "  "} {
		if strings.Contains(v, sign) {
			out = append(out, sign)
		}
	}
	if errNumber != nil && strings.IndexFunc(v, func(r rune) bool { return r > unicode.MaxASCII }) >= 0 {
		out = append(out, "beyond ASCII")
	}
	return out
}

// sizeOfScalar returns the value of a number, in a text or not, and the length of any other value.
func sizeOfScalar(text []byte) float64 {
	v := strings.Trim(strings.TrimSpace(string(text)), `"`)
	if number, err := strconv.ParseFloat(v, 64); err == nil {
		return number
	}
	return float64(len(v))
}

// maxWordTrait is the length up to which a value may be a word of a vocabulary, in bytes.
const maxWordTrait = 16

// traitsOfID returns traits for the characters in an id that servers decode in different ways.
func traitsOfID(id string) []trait {
	signs := map[string]int{}
	for _, c := range id {
		switch {
		case c > unicode.MaxASCII:
			signs["beyond ASCII"] = idWeight
		case strings.ContainsRune("-._~", c): // never encoded (RFC 3986 §2.3)
			signs["with "+string(c)] = rareWeight
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			signs["with "+string(c)] = idWeight
		}
	}
	if len(id) > 64 {
		signs["long"] = idWeight
	}
	var out []trait
	for _, sign := range slices.Sorted(maps.Keys(signs)) {
		out = append(out, trait{"id " + sign, signs[sign]})
	}
	return out
}

// maxShape bounds the shape of an id, in characters.
const maxShape = 40

// shapeOf returns the shape of an id: a for letters, A for capitals, 9 for digits, and other characters as they are.
func shapeOf(id string) string {
	var out []rune
	for _, c := range id {
		switch {
		case unicode.IsDigit(c):
			c = '9'
		case unicode.IsUpper(c):
			c = 'A'
		case unicode.IsLetter(c):
			c = 'a'
		}
		if n := len(out); (n == 0 || out[n-1] != c) && n < maxShape {
			out = append(out, c)
		}
	}
	return string(out)
}
