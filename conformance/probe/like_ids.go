package probe

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/recorder"
)

// This file requests ids that no record has and that resemble the id of a record: cut short, extended, as a pattern, beyond the range of numbers. A node that
// parses ids leniently answers with that record.

// nearID is one way to change an id. mayMatch reports whether a node may treat the changed id as the same one.
type nearID struct {
	kind     string
	make     func(s draw.Source, id string) string
	mayMatch func(p openapi.Parameter) bool
}

// nearIDs lists the ways to change an id: a number if digits is true, and any other text otherwise.
func nearIDs(digits bool) []nearID {
	never := func(openapi.Parameter) bool { return false }
	asNumber := func(p openapi.Parameter) bool { return p.Schema.Type == "integer" || p.Schema.Type == "number" }
	if digits {
		return []nearID{
			{"extended-by-letters", func(s draw.Source, id string) string { return id + s.Text(draw.Lower, s.Between(1, 4)) }, never},
			{"beyond-the-range", func(_ draw.Source, id string) string {
				n, _ := strconv.ParseUint(id, 10, 32)
				return strconv.FormatUint(n+1<<32, 10)
			}, never},
			{"beyond-every-range", func(s draw.Source, id string) string { // beyond signed integers of 64 bits
				n, _ := strconv.ParseUint(id, 10, 32)
				return strconv.FormatUint(n+1<<63, 10) + draw.One(s, "", s.Text("123456789", 2))
			}, never},
			{"two-numbers", func(s draw.Source, id string) string { return id + draw.One(s, ",", " ", "_") + s.Text("123456789", 2) }, never},
			{"another-spelling", func(s draw.Source, id string) string {
				return draw.One(s, "0"+id, "00"+id, "+"+id, " "+id, id+" ", id+".0", id+"e0", id+".")
			}, asNumber},
		}
	}
	return []nearID{
		{"cut", func(s draw.Source, id string) string { r := []rune(id); return string(r[:len(r)-1]) }, never},
		{"extended", func(s draw.Source, id string) string { return id + s.Text(draw.Lower+draw.Digits, s.Between(1, 3)) }, never},
		{"pattern", func(s draw.Source, id string) string {
			r := []rune(id)
			return string(r[:len(r)-1]) + draw.One(s, "%", "_", "*", "%")
		}, never},
		{"case-or-blank", func(s draw.Source, id string) string {
			if changed := swappedCase(id); changed != id {
				return changed
			}
			return id + " "
		}, func(openapi.Parameter) bool { return true }},
	}
}

// likeIDs is how many changed ids are requested.
const likeIDs = 5

// likeIDCases are the calls of the detail operation with changed ids.
func likeIDCases() []row {
	var out []row
	for n := range likeIDs {
		out = append(out, row{Label: evidence.DetailOperation.With(evidence.LikeIDCase(n + 1)), Plan: in(stageRest, stageListRead, stageAuthorized).onlyIf(notQuick).onDemand(), Send: withoutSchemas(choose(likeID(n)))}) // a server in front of the node may refuse it
	}
	return out
}

func likeID(n int) chooser {
	return func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
		collection, ok := r.node.Collection(o)
		template := o.TemplateParameters()
		if !ok || len(template) != 1 {
			return chosen{}, notApplicable("no list has the ids")
		}
		items := r.facts.itemsOf(evidence.OperationResource(collection.Key))
		known := map[string]bool{}
		var good []string
		for _, id := range plainIDs(items) {
			known[strings.ToLower(id)] = true
			if len(id) > 1 && len(id) <= 100 && !strings.ContainsAny(id, " %/\\") {
				good = append(good, id)
			}
		}
		if len(good) == 0 {
			return chosen{}, notApplicable("the list has no id that can be changed")
		}
		s := r.source(res.Name, "near ids "+strconv.Itoa(n))
		id := good[s.Below(len(good))]
		_, errNumber := strconv.ParseUint(id, 10, 32)
		ways := nearIDs(errNumber == nil)
		if n >= len(ways) {
			return chosen{}, notApplicable("there are no more ways to change an id")
		}
		way := ways[n]
		changed := way.make(s, id)
		if changed == "" || way.kind != "case-or-blank" && known[strings.ToLower(changed)] || slices.Contains(good, changed) || changed == "." || changed == ".." {
			return chosen{}, notApplicable("the list has that id as well")
		}
		mayMatch := way.mayMatch(templateParameter(o, template[0]))
		given := r.givenID(o, "asked", changed)
		given["known"], given["even"] = id, strconv.FormatBool(mayMatch)
		return chosen{r.detail(o, changed), given}, nil
	}
}

// templateParameter returns the path parameter with a name.
func templateParameter(o openapi.Operation, name string) openapi.Parameter {
	for _, p := range o.Parameters {
		if p.In == "path" && p.Name == name {
			return p
		}
	}
	return openapi.Parameter{}
}

// swappedCase changes the case of the ASCII letters of a text.
func swappedCase(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r > unicode.MaxASCII:
			return r
		case unicode.IsUpper(r):
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, text)
}

// gapIDs is how many ids that the list leaves out are requested.
const gapIDs = 4

// gapIDCases are the calls of the detail operation with ids between the listed ones. A record that the list hides, such as a draft, is often found by its
// id.
func gapIDCases() []row {
	var out []row
	for n := range gapIDs {
		out = append(out, row{Label: evidence.DetailOperation.With(evidence.GapIDCase(n + 1)), Plan: in(stageRest, stageListRead, stageAuthorized).onlyIf(notQuick).onDemand(), Send: withoutSchemas(choose(gapID(n)))})
	}
	return out
}

func gapID(n int) chooser {
	return func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
		collection, ok := r.node.Collection(o)
		if !ok || len(o.TemplateParameters()) != 1 {
			return chosen{}, notApplicable("no list has the ids")
		}
		var ids []string
		for _, i := range r.facts.itemsOf(evidence.OperationResource(collection.Key)) {
			ids = append(ids, i.id)
		}
		gaps := skippedIDs(r.source(res.Name, "ids passed over"), ids)
		if n >= len(gaps) {
			return chosen{}, notApplicable("the ids of the list leave out no further number")
		}
		return chosen{r.detail(o, gaps[n]), r.givenID(o, "asked", gaps[n])}, nil
	}
}

// widestGap is the widest gap between two listed ids from which ids are requested. Ids with wider gaps are not a sequence.
const widestGap = 20

// skippedIDs lists the ids that a sequence of ids leaves out: first those between others, in drawn order, then the ids before and after the sequence. Only
// ids that end with a number, after the same text, are a sequence.
func skippedIDs(s draw.Source, ids []string) []string {
	form := regexp.MustCompile(`^(.*?)([0-9]{1,15})$`)
	numbers := map[string]map[uint64]int{} // by the text before the number; the values are lengths
	for _, id := range ids {
		if m := form.FindStringSubmatch(id); m != nil && !strings.ContainsAny(m[1], "/\\% ") {
			value, _ := strconv.ParseUint(m[2], 10, 64) // it has at most 15 digits
			if numbers[m[1]] == nil {
				numbers[m[1]] = map[uint64]int{}
			}
			numbers[m[1]][value] = len(m[2])
		}
	}
	var inside, around []string
	for _, prefix := range slices.Sorted(maps.Keys(numbers)) {
		seen := numbers[prefix]
		values := slices.Sorted(maps.Keys(seen))
		if len(values) < 3 {
			continue
		}
		width, last := 0, values[len(values)-1]
		if seen[values[0]] > len(strconv.FormatUint(values[0], 10)) {
			width = seen[last] // numbers with leading zeros
		}
		spelled := func(value uint64) string { return fmt.Sprintf("%s%0*d", prefix, width, value) }
		for i := 1; i < len(values); i++ {
			if values[i]-values[i-1] <= widestGap {
				for value := values[i-1] + 1; value < values[i]; value++ {
					inside = append(inside, spelled(value))
				}
			}
		}
		around = append(around, spelled(last+1))
		if values[0] > 1 {
			around = append(around, spelled(values[0]-1))
		}
	}
	draw.Shuffle(s, inside)
	return append(inside, around...)
}

// namedIDs is how many ids are requested that other records name and no list has.
const namedIDs = 2

// namedIDCases are the calls of the detail operation with ids that other records name, such as that of the next call, and that no list has. They come last,
// when the other details have been read.
func namedIDCases() []row {
	var out []row
	for n := range namedIDs {
		out = append(out, row{Label: evidence.DetailOperation.With(evidence.NamedIDCase(n + 1)), Plan: in(stageLast).inLane("named ids").onlyIf(notQuick).onDemand(), Send: withoutSchemas(choose(namedID(n)))})
	}
	return out
}

func namedID(n int) chooser {
	return func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
		var named []string
		r.facts.with(func(f *facts) { named = slices.Clone(f.named[res.Name]) })
		slices.Sort(named) // details are read side by side
		if n >= len(named) {
			return chosen{}, notApplicable("no record names a further id that the list lacks")
		}
		return chosen{r.detail(o, named[n]), r.givenID(o, "asked", named[n])}, nil
	}
}

// learnNamedIDs keeps the texts of a record that have the form and the letters of a listed id, and that no list has.
func learnNamedIDs(r *run, at evidence.Resource, a recorder.Answer) {
	o, known := r.operation(at)
	collection, ok := r.node.Collection(o)
	var record any
	if !known || !ok || a.Status/100 != 2 || evidence.DecodeJSON(a.Body, &record) != nil {
		return
	}
	list := evidence.OperationResource(collection.Key)
	r.facts.with(func(f *facts) {
		kept := f.records[list]
		if kept == nil || len(kept.texts) == maxRows {
			return // the list may have more records
		}
		forms := map[string]bool{}
		for id := range kept.known {
			forms[formOfID(id)] = true
		}
		for _, text := range stringsIn(record, 8) {
			if len(f.named[at]) < 4*namedIDs && formOfID(text) != "" && forms[formOfID(text)] && !kept.known[text] && !slices.Contains(f.named[at], text) {
				f.named[at] = append(f.named[at], text)
			}
		}
	})
}

// formOfID returns an id with one 9 for each run of digits; "" for a text that is only letters, or only digits.
func formOfID(id string) string {
	form := regexp.MustCompile(`[0-9]+`).ReplaceAllString(id, "9")
	if len(id) > 64 || form == id || form == "9" || strings.ContainsAny(id, " /:") {
		return ""
	}
	return form
}

// stringsIn returns the texts in a JSON value, up to a depth.
func stringsIn(value any, depth int) (out []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, inner := range v {
			if depth > 0 {
				out = append(out, stringsIn(inner, depth-1)...)
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if depth > 0 {
				out = append(out, stringsIn(v[name], depth-1)...)
			}
		}
	}
	return out
}

// unpublishedCases call the list with switches of content management systems that show what is not published, unless the document describes them.
func unpublishedCases() []row {
	plan := in(stageRest, stageAuthorized, stagePages).onlyIf(notQuick).onDemand()
	return []row{
		{Label: evidence.ListOperation.With("unpublished-1"), Words: "with switches that show drafts", Plan: plan, Send: withoutSchemas(choose(withSwitches(drawnSwitches)))},
		{Label: evidence.ListOperation.With("unpublished-2"), Words: "with the state of drafts", Plan: plan, Send: withoutSchemas(choose(withSwitches(draftStates)))},
	}
}

// switchesAtOnce is how many switches one call has.
const switchesAtOnce = 6

func drawnSwitches(s draw.Source) []pair {
	all := []string{"includeDrafts", "drafts", "draft", "preview", "showHidden", "includeHidden", "unpublished", "includeUnpublished", "showAll", "all", "internal", "debug"}
	var out []pair
	for len(out) < switchesAtOnce {
		i := s.Below(len(all))
		out = append(out, pair{all[i], draw.One(s, "true", "true", "1")})
		all = slices.Delete(all, i, i+1)
	}
	return out
}

// draftStates draws two parameters for a state, so that no run can be recognised by them.
func draftStates(s draw.Source) []pair {
	all := []pair{
		{"publicationState", draw.One(s, "preview", "draft")}, {"status", draw.One(s, "draft", "unpublished", "any")}, {"state", draw.One(s, "draft", "preview")},
		{"stage", draw.One(s, "draft", "preview")}, {"published", draw.One(s, "false", "0", "all")}, {"version", "draft"},
	}
	draw.Shuffle(s, all)
	return all[:2]
}

// withSwitches calls the list with those parameters that the document does not describe.
func withSwitches(switches func(s draw.Source) []pair) chooser {
	return func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
		query := slices.DeleteFunc(switches(r.source(res.Name, "switches")), func(p pair) bool {
			return slices.ContainsFunc(o.Parameters, func(known openapi.Parameter) bool { return openapi.Joined(known.Name) == openapi.Joined(p.name) })
		})
		if len(query) == 0 {
			return chosen{}, notApplicable("the document describes these parameters")
		}
		return chosen{r.sized(o, withQuery(res.URL, query...), "", maxWalkSize), map[string]string{"switches": strconv.Itoa(len(query))}}, nil
	}
}
