package metrics_test

import (
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// family is what an exposition says of one metric.
type family struct {
	kind    string
	samples map[string]float64 // by name and labels, as they are written
}

var (
	nameLine   = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)
	sampleLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*",?)+\})? ([^ ]+)$`)
)

// parse reads an exposition as strictly as promtool check metrics does: HELP and TYPE once before the samples of a family, families in one
// piece, no sample twice, counters by their name, histograms cumulative up to +Inf.
func parse(text string) (map[string]family, error) {
	families := map[string]family{}
	current, help := "", ""
	if !strings.HasSuffix(text, "\n") {
		return nil, fmt.Errorf("the last line has no end")
	}
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		fail := func(what string) (map[string]family, error) {
			return nil, fmt.Errorf("line %d: %s: %s", i+1, what, line)
		}
		if rest, found := strings.CutPrefix(line, "# HELP "); found {
			var said string
			help, said, found = strings.Cut(rest, " ")
			if !found || said == "" || !nameLine.MatchString(help) {
				return fail("a name and a help text expected")
			}
			continue
		}
		if rest, found := strings.CutPrefix(line, "# TYPE "); found {
			name, kind, _ := strings.Cut(rest, " ")
			if _, again := families[name]; again || name != help {
				return fail("a family in several pieces, or without help")
			}
			if (kind == "counter") != strings.HasSuffix(name, "_total") {
				return fail("counters end in _total, and nothing else does")
			}
			families[name], current = family{kind, map[string]float64{}}, name
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil {
			return fail("no sample")
		}
		value, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			return fail(err.Error())
		}
		f := families[current]
		if base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(m[1], "_bucket"), "_sum"), "_count"); m[1] != current && (f.kind != "histogram" || base != current) {
			return fail("a sample outside its family")
		}
		if _, again := f.samples[m[1]+m[2]]; again {
			return fail("a sample twice")
		}
		f.samples[m[1]+m[2]] = value
	}
	for name, f := range families {
		if err := f.check(name); err != nil {
			return nil, err
		}
	}
	return families, nil
}

var lessOrEqual = regexp.MustCompile(`,?le="([^"]+)"`)

// check looks at the buckets of each histogram of a family.
func (f family) check(name string) error {
	if f.kind != "histogram" {
		return nil
	}
	type bucket struct{ bound, count float64 }
	buckets := map[string][]bucket{}
	for key, value := range f.samples {
		labels, isBucket := strings.CutPrefix(key, name+"_bucket")
		if !isBucket {
			continue
		}
		m := lessOrEqual.FindStringSubmatch(labels)
		if m == nil {
			return fmt.Errorf("%s has no le", key)
		}
		bound, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return err
		}
		rest := strings.Replace(labels, m[0], "", 1)
		buckets[rest] = append(buckets[rest], bucket{bound, value})
	}
	for labels, all := range buckets {
		sort.Slice(all, func(i, j int) bool { return all[i].bound < all[j].bound })
		for i := range all {
			if i > 0 && all[i].count < all[i-1].count {
				return fmt.Errorf("%s%s is not cumulative at %g", name, labels, all[i].bound)
			}
		}
		if last := all[len(all)-1]; last.bound <= 1e300 || last.count != f.samples[name+"_count"+labels] {
			return fmt.Errorf("%s%s: +Inf is missing or not the count", name, labels)
		}
		if _, there := f.samples[name+"_sum"+labels]; !there {
			return fmt.Errorf("%s%s has no sum", name, labels)
		}
	}
	return nil
}
