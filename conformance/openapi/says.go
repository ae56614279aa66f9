package openapi

import (
	"regexp"
	"slices"
	"strings"
)

// This file finds what the descriptions of a document say.

// maxDescriptionNodes bounds the values of a document that one search for descriptions visits.
const maxDescriptionNodes = 4000

// ExcludesEmptyPages reports whether a description of the operation, or of a schema that it refers to, says that no page is empty, or that the last page with
// items has no next one. Without such words an empty last page is right: many databases find the end of a list only there.
func (d *Document) ExcludesEmptyPages(o Operation) bool {
	const more = `(?:more|further|other) (?:items|records|entries|elements|results|hits|rows|calls|fundings)`
	const nothing = `(?:nothing (?:more |else )?(?:follows|is left)|(?:there are |there is )?no ` + more + `)\b`
	never := regexp.MustCompile(`(?i)\bno (?:other |further |later |next )?page\b[^.;]{0,40}\b(?:is|are|be) (?:ever )?empty\b|\bpages?\b[^.;]{0,40}\bnever\b[^.;]{0,10}\bempty\b|\bnever\b[^.;]{0,30}\ban empty page\b`)
	ends := regexp.MustCompile(`(?i)\bnext\w*\b[^.;]{0,40}\bunless ` + nothing +
		`|\bnext\w*\b[^.;]{0,40}\b(?:absent|missing|omitted|left out|null|not (?:there|present|sent|given))\b[^.;]{0,20}\b(?:if|when|once|where) ` + nothing +
		`|\bnext\w*\b[^.;]{0,40}\b(?:only (?:if|when|while)|exactly (?:if|when)|as long as|while)\b[^.;]{0,15}\b` + more + `\b`)
	// Words that only allow an empty page, or that say what clients may do: then the sentence about the next page is not a promise.
	may := regexp.MustCompile(`(?i)\bempty (?:last )?page\b|\b(?:may|can|could|might)\b[^.;]{0,60}\b(?:empty|none|no (?:items|records|entries|calls)|more|further)\b|\b(?:even|also) (?:if|when|though|none)\b|\balthough\b|\b(?:you|clients?|one) (?:needs?|wants?|wish)\b`)
	// The description of the whole API is about much else, so there the words must be about pages.
	mayBeEmpty := regexp.MustCompile(`(?i)\bpages?\b[^.;]{0,40}\b(?:may|can|could|might)\b[^.;]{0,60}\b(?:empty|none|no (?:items|records|entries|calls))\b|\bseiten?\b[^.;]{0,40}\b(?:kann|können|darf|dürfen)\b[^.;]{0,60}\b(?:leer|keine?)\b`)
	return d.Says(o, never) || d.Says(o, ends) && !d.Says(o, may) && !d.SaysIn(d.root["info"], mayBeEmpty)
}

// LocksOneClient reports whether the description of the whole API says that wrong secrets of a client lock this client out of the token endpoint. A document
// that counts by address, or that limits requests in general, promises other clients nothing.
func (d *Document) LocksOneClient() bool {
	raw, _ := d.Raw("/info/description")
	attempt := regexp.MustCompile(`(?i)\b(?:wrong|failed|false|bad|falsch\w*|fehlgeschlagen\w*|fehl)[ -]?[^.;]{0,20}(?:secret|authentication|attempt|login|credential|geheimnis|anmeld|versuch)`)
	lock := regexp.MustCompile(`(?i)\b(?:locks?|locked|429|sperrt|gesperrt)\b`)
	oneClient := regexp.MustCompile(`(?i)\b(?:(?:a|the|this|that|one|of a|for a) (?:client|account)|(?:ein|das|dieses|der|dieser|eines) (?:konto|client|zugang)|its token requests)\b`)
	// The sentence is about several callers, or denies or allows something.
	other := regexp.MustCompile(`(?i)\b(?:\w*address\w*|\w*adress\w*|ips?|hosts?|proxy|networks?|netz\w*|all|every|each|alle\w*|jede\w*|institutions?|affiliations?|organi[sz]ations?|partners?|tenants?|groups?|universit\w*|everyone|everybody|others|einrichtung\w*|hochschule\w*|organisation\w*|not|cannot|never|may|can|nicht|nie|kein\w*|kann|können)\b`)
	general := regexp.MustCompile(`(?i)\b429\b|\brate[ -]limit|\brequests (?:per|a|an|in) |\banfragen (?:pro|je|in) `)
	isPromise := func(sentence string) bool {
		return !strings.Contains(sentence, "n't ") && attempt.MatchString(sentence) && lock.MatchString(sentence) && oneClient.MatchString(sentence) && !other.MatchString(sentence)
	}
	sentences := regexp.MustCompile(`[.;!?](?: |$)`).Split(strings.Join(strings.Fields(stringValue(raw)), " "), -1)
	return slices.ContainsFunc(sentences, isPromise) &&
		!slices.ContainsFunc(sentences, func(s string) bool { return general.MatchString(s) && !isPromise(s) })
}

// Says reports whether a description of the operation, or of what it refers to, matches a pattern. Runs of white space are one blank.
func (d *Document) Says(o Operation, pattern *regexp.Regexp) bool {
	raw, _ := d.Raw(o.Pointer)
	return d.SaysIn(raw, pattern)
}

// SaysIn is [Document.Says] for a part of the document.
func (d *Document) SaysIn(part any, pattern *regexp.Regexp) bool {
	return d.newSearch().says(part, pattern)
}

// SaysOfMember reports whether a description of a property with this name, or of what is below it, matches a pattern, in the operation and in what it refers to.
func (d *Document) SaysOfMember(o Operation, name string, pattern *regexp.Regexp) bool {
	raw, _ := d.Raw(o.Pointer)
	s := d.newSearch()
	return s.find(raw, func(object map[string]any) bool {
		properties, _ := object["properties"].(map[string]any)
		return properties[name] != nil && s.says(properties[name], pattern)
	})
}

// SaysOfTotal reports whether a description of the total in the answer of an operation matches a pattern. The place is that of [Total]: a header field, or a
// member of the envelope. A property of the same name elsewhere, such as in an item, is another number.
func (d *Document) SaysOfTotal(o Operation, place string, pattern *regexp.Regexp) bool {
	return d.anyOfTotal(o, place, func(s *search, property any) bool { return s.says(property, pattern) })
}

// anyOfTotal reports whether the description of the total in this place fits. A total that the answer is composed of several times has several descriptions.
func (d *Document) anyOfTotal(o Operation, place string, fits func(s *search, property any) bool) bool {
	status, _, ok := o.Success()
	if !ok || place == "" {
		return false
	}
	at, why := d.Descend(Join(o.Pointer, "responses"), status)
	value, _ := d.Raw(at)
	response, _ := value.(map[string]any)
	if why != "" || response == nil {
		return false
	}
	s := d.newSearch()
	path, inEnvelope := strings.CutPrefix(place, "$.")
	if !inEnvelope {
		headers, _ := response["headers"].(map[string]any)
		return slices.ContainsFunc(sortedKeys(headers), func(name string) bool { return strings.EqualFold(name, place) && fits(s, headers[name]) })
	}
	schemas := []any{response["schema"]} // Swagger 2.0
	content, _ := response["content"].(map[string]any)
	for _, media := range sortedKeys(content) {
		holder, _ := d.resolve(content[media])
		schemas = append(schemas, holder["schema"])
	}
	ofProperty := func(property any) bool { return fits(s, property) }
	holder, name, nested := strings.Cut(path, ".")
	return slices.ContainsFunc(schemas, func(schema any) bool {
		return s.anyProperty(schema, path, ofProperty) ||
			nested && s.anyProperty(schema, holder, func(property any) bool { return s.anyProperty(property, name, ofProperty) })
	})
}

// SaysOfAll reports whether the description of the whole API matches a pattern. Runs of white space are one blank.
func (d *Document) SaysOfAll(pattern *regexp.Regexp) bool {
	raw, _ := d.Raw("/info/description")
	return pattern.MatchString(proseOf(stringValue(raw)))
}

// proseOf returns the beginning of a description, with one blank for each run of white space.
func proseOf(description string) string {
	return strings.Join(strings.Fields(cutText(description, maxText)), " ")
}

// search is one search through a document. All its calls share one budget of values, so that a hostile document cannot multiply the work.
type search struct {
	document *Document
	left     int // the values that may still be read
}

func (d *Document) newSearch() *search { return &search{d, maxDescriptionNodes} }

// says reports whether a description in a value, or in what the value refers to, matches a pattern.
func (s *search) says(value any, pattern *regexp.Regexp) bool {
	return s.find(value, func(object map[string]any) bool {
		description, isText := object["description"].(string)
		return isText && pattern.MatchString(proseOf(description))
	})
}

// find reports whether an object in a value, or in what the value refers to, fits. It follows each reference once.
func (s *search) find(value any, fits func(object map[string]any) bool) bool {
	followed := map[string]bool{}
	var find func(value any) bool
	find = func(value any) bool {
		if s.left--; s.left < 0 {
			return false
		}
		switch v := value.(type) {
		case map[string]any:
			if ref := stringValue(v["$ref"]); ref != "" && !followed[ref] {
				followed[ref] = true
				if _, target, ok := s.document.Follow(ref); ok && find(target) {
					return true
				}
			}
			if fits(v) {
				return true
			}
			for _, name := range sortedKeys(v) {
				if find(v[name]) {
					return true
				}
			}
		case []any:
			return slices.ContainsFunc(v, find)
		}
		return false
	}
	return find(value)
}

// anyProperty reports whether a property of this name fits, in a schema or in those that it is composed of.
func (s *search) anyProperty(schema any, name string, fits func(property any) bool) bool {
	if s.left--; s.left < 0 {
		return false
	}
	object, _ := schema.(map[string]any)
	if ref := stringValue(object["$ref"]); ref != "" {
		if _, target, ok := s.document.Follow(ref); ok && s.anyProperty(target, name, fits) {
			return true
		}
	}
	if properties, _ := object["properties"].(map[string]any); properties[name] != nil && fits(properties[name]) {
		return true
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		parts, _ := object[keyword].([]any)
		if slices.ContainsFunc(parts, func(part any) bool { return s.anyProperty(part, name, fits) }) {
			return true
		}
	}
	return false
}
