package requirement

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// registryEntry lists group REG in catalogue order. The group does not apply to a run that was given bare URLs.
func registryEntry() []Requirement {
	read := []evidence.Label{evidence.Registry.With(evidence.OK)}
	return []Requirement{
		{
			ID: "REG-01", Title: "Entry records a token endpoint URL and an info endpoint URL",
			Level: Network, Gate: Gating, Profile: Auth,
			Source:   NET("R6"),
			Quote:    "The token endpoint URL and the info endpoint URL of every participating node are recorded in a registry for production use.",
			Probe:    "The registry document is read and the entry with the node's id is looked up; its members oauth2 and info are the two URLs.",
			Forgives: "A bare array of entries in place of {\"member\": […]}, ids of any form, blanks around the values.",
			Fix:      "Add both members to the entry: oauth2 is the full URL of the token endpoint, info that of the info endpoint.",
			Breaks:   "The entry carries oauth2 but no info.",
			Reads:    read, Check: ofEntry(entryRecordsURLs),
		},
		{
			ID: "REG-02", Title: "Recorded URLs are absolute https URLs without fragment or userinfo",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "3.2").And(NET("R19")),
			Quote:    "The endpoint URI MUST NOT include a fragment component.",
			Probe:    "The two recorded URLs are parsed.",
			Forgives: "A query, which is legal; a slash at the end or none; blanks around the URL, which REG-05 reports; plain http for a node on loopback.",
			Fix:      "Record the URL as clients send it: https, the host, the path; no user name, no password and no # in it.",
			Breaks:   "oauth2 is recorded as http://….",
			Reads:    read, Check: ofRecordedURLs(recordedURLsSound),
		},
		{
			ID: "REG-03", Title: "Recorded URLs are the ones that work",
			Level: Network, Gate: Gating, Profile: Auth,
			Source:   NET("R6").AsDerived(),
			Quote:    "The token endpoint URL and the info endpoint URL of every participating node are recorded in a registry for production use.",
			Probe:    "The good token request and the good info request go to the recorded URLs as they stand. Where the run was given other URLs of the same origin, one more request of each kind goes to the recorded ones.",
			Forgives: "Other URLs of another origin, which may be another environment: they are not compared. A redirect on the same origin that adds or drops a slash, of which INF-04 warns.",
			Fix:      "Record exactly the URL that works, or let the recorded one work.",
			Breaks:   "info is recorded with a path that answers 404; the real one differs by a segment.",
			Reads: append(read, evidence.TokenEndpoint.With(evidence.OK), evidence.Info.With(evidence.OK),
				evidence.RecordedToken.With(evidence.OK), evidence.RecordedInfo.With(evidence.OK)),
			Check: ofRecordedURLs(recordedURLsWork),
		},
		{
			ID: "REG-04", Title: "Entry carries id, acronym, name and a contact e-mail",
			Level: Recommended, Gate: Advice, Profile: Auth,
			Source:   apiFramework("Registry", "registry").And(NET("R7")),
			Quote:    "contact: An email address for inquiries related to the institution.",
			Probe:    "The members id, acronym, name and contact of the entry are read. No mail is sent.",
			Forgives: "Blanks at the end of a name, transliterated umlauts, mailto: in front of the address.",
			Fix:      "Fill in the four members; contact is an address that a person reads, such as ris@institution.example.",
			Breaks:   "contact is the text n/a.",
			Reads:    read, Check: ofEntry(entryComplete),
		},
		{
			ID: "REG-05", Title: "Entry is clean and unique",
			Level: Recommended, Gate: Advice, Profile: Auth,
			Source:   RFC(8259, "4"),
			Quote:    "The names within an object SHOULD be unique.",
			Probe:    "The URLs of the entry are searched for blanks around them and control characters, the document for a second entry with the same id, the entry for members that it holds twice.",
			Forgives: "Two entries of one institution under different ids. Blanks around the name, and hosts or realms that look like staging or test, are noted only.",
			Fix:      "Remove blanks and repeated members, and keep one entry for each id.",
			Breaks:   "The id appears twice with different token URLs.",
			Reads:    read, Check: ofEntry(entryClean),
		},
		{
			ID: "REG-06", Title: "Entry holds no secret",
			Level: Network, Gate: Gating, Profile: Auth,
			Source:   NET("R19").AsDerived(),
			Quote:    "The client ID and client secret are highly sensitive and are passed on only through a secure channel.",
			Probe:    "The entry is searched for the secrets and the client id of this run, and for members whose name speaks of a secret, a password or a client id.",
			Forgives: "Texts and links that mention client_secret: names of members and exact values count.",
			Fix:      "Remove the member from the entry, and issue new credentials: whoever read the registry holds the old ones.",
			Breaks:   "The entry has a member client_secret.",
			Reads:    read, Check: ofEntry(entryHoldsNoSecret),
		},
	}
}

// This file judges the node's entry in the registry as it was recorded (REG-01 to REG-06).

// entry is a registry entry as it stands.
type entry struct {
	raw     []byte
	members map[string][]byte
	facts   evidence.RegistryFacts
}

// ofEntry makes a check that looks at the entry of a run that started from a registry.
func ofEntry(check func(e Evidence, n entry) Judgement) func(Evidence) Judgement {
	return func(e Evidence) Judgement {
		if e.Run.NodeID == "" {
			return Missing("the run was given URLs, not a registry")
		}
		if len(e.Registry) == 0 {
			cause := "the entry was not recorded"
			if e.Ended != nil && e.Ended.Cause != "" {
				cause = clip(e.Ended.Cause)
			}
			return Unclear("there is no registry entry to judge: " + cause).Hinting("check --registry and --node, then repeat the run").
				Seen(evidence.Registry.With(evidence.OK))
		}
		n := entry{raw: e.Registry, members: openapi.Object(e.Registry)}
		if e.RegistryFacts != nil {
			n.facts = *e.RegistryFacts
		}
		return check(e, n)
	}
}

// ofRecordedURLs makes a check for which REG-01 has to hold. It is not After that one, because without a registry both do not apply.
func ofRecordedURLs(check func(e Evidence, n entry) Judgement) func(Evidence) Judgement {
	return func(e Evidence) Judgement {
		if j, stands := e.passes("REG-01"); !stands {
			return j
		}
		return ofEntry(check)(e)
	}
}

// text is a member that is a string; ok is false for anything else.
func (n entry) text(name string) (value string, ok bool) {
	raw, has := n.members[name]
	return value, has && json.Unmarshal(raw, &value) == nil && bytes.HasPrefix(bytes.TrimSpace(raw), []byte(`"`))
}

// got says what stands in the place of a member.
func (n entry) got(name string) string {
	raw, has := n.members[name]
	if !has {
		return "no member " + name
	}
	if value, ok := n.text(name); ok {
		return clip(fmt.Sprintf("%s: %q", name, value))
	}
	return name + ": " + textType(raw)
}

// aboutMember names a member of the entry as a subject.
func (j Judgement) aboutMember(name, expected, got string) Judgement {
	return j.About(Subject{Name: "member " + clip(name) + " of the registry entry", Label: evidence.Registry.With(evidence.OK), Expected: expected, Got: got})
}

// aboutEntry is a pass that rests on the entry.
func aboutEntry() Judgement {
	return Passed().About(Subject{Name: "registry entry", Label: evidence.Registry.With(evidence.OK)})
}

// recordedURLs are the members that hold URLs.
func recordedURLs() []string { return []string{"oauth2", "info"} }

func entryRecordsURLs(_ Evidence, n entry) Judgement {
	var parts []Judgement
	for _, name := range recordedURLs() {
		if value, ok := n.text(name); ok && strings.TrimSpace(value) != "" {
			parts = append(parts, aboutEntry())
			continue
		}
		expected, got := name+": a URL", n.got(name)
		parts = append(parts, Failed("the entry records no "+urlOf(name), expected, got).aboutMember(name, expected, got))
	}
	return gatherOnce(parts)
}

func urlOf(member string) string {
	if member == "oauth2" {
		return "token endpoint URL"
	}
	return "info endpoint URL"
}

// gatherOnce gathers judgements that rest on the same entry, which a pass names once.
func gatherOnce(parts []Judgement) Judgement {
	if j := gather(parts...); j.Outcome != Pass {
		return j
	}
	j := aboutEntry()
	for _, p := range parts {
		j.Notes = append(j.Notes, p.Notes...)
	}
	return j
}

func recordedURLsSound(e Evidence, n entry) Judgement {
	var parts []Judgement
	given := map[string]string{"oauth2": e.Run.TokenURL, "info": e.Run.InfoURL}
	for _, name := range recordedURLs() {
		value, _ := n.text(name)
		parts = append(parts, recordedURL(e, name, strings.TrimSpace(value), given[name]))
	}
	return gatherOnce(parts)
}

// recordedURL judges the form of one recorded URL. Plain http is tolerated where the whole node is on loopback and served so.
func recordedURL(e Evidence, name, value, given string) Judgement {
	const expected = "an absolute https URL"
	fail := func(reason, got string) Judgement {
		return Failed("the recorded "+urlOf(name)+" "+reason, expected, got).aboutMember(name, expected, got)
	}
	u, err := url.Parse(value)
	switch {
	case err != nil:
		return fail("cannot be read as a URL", clip(value))
	case u.User != nil:
		u.User = nil
		return fail("holds a user name or password", clip("user name or password before "+u.String()))
	case u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return fail("is not absolute", clip(value))
	case strings.Contains(value, "#"):
		return fail("has a fragment", clip(value))
	case u.Scheme == "http" && e.Run.Loopback && strings.HasPrefix(given, "http:"):
		return Missing("the node is on loopback, where plain http is tolerated")
	case u.Scheme == "http":
		return fail("is not https: secrets and tokens would travel in cleartext", clip(value))
	}
	return aboutEntry()
}

func recordedURLsWork(e Evidence, n entry) Judgement {
	token, _ := n.text("oauth2")
	info, _ := n.text("info")
	return gather(
		recordedWorks(e, "oauth2", strings.TrimSpace(token), e.Run.TokenURL, evidence.RecordedToken, evidence.TokenEndpoint, "TOK-01"),
		recordedWorks(e, "info", strings.TrimSpace(info), e.Run.InfoURL, evidence.RecordedInfo, evidence.Info, "INF-01"),
	)
}

// recordedWorks judges one recorded URL. The run asked it for everything, or, where it was given another one of the same origin, once.
func recordedWorks(e Evidence, name, recorded, given string, asked, resource evidence.Resource, id ID) Judgement {
	if recorded == given {
		j, stands := e.passes(id)
		if stands {
			return Passed(resource.With(evidence.OK))
		}
		return j
	}
	label := asked.With(evidence.OK)
	x, sent := e.Get(label)
	if !sent {
		if _, planned := e.Skipped(label); planned {
			j, _ := e.unanswered(label)
			return j
		}
		if origin(recorded) != origin(given) {
			note := fmt.Sprintf("the recorded %s is of another origin than the one that this run was given, so it was not asked", urlOf(name))
			return Missing(note).Noting(note)
		}
		return Unclear("the recorded " + urlOf(name) + " was not asked")
	}
	if success(x) {
		return Passed(label)
	}
	if good := e.exchange(resource.With(evidence.OK)); !success(good) {
		return expect(x, "2xx").unclear("the "+urlOf(name)+" works neither as recorded nor as given", describe(x))
	}
	if j, unclear := inconclusive(x); unclear {
		return j
	}
	expected := "2xx, as at the URL that this run was given"
	return expect(x, expected).failed("the recorded "+urlOf(name)+" does not work; the one that this run was given does", describe(x)).
		Hinting(clip("record " + given))
}

// address is the form local@domain.
func address(text string) bool {
	text = strings.TrimPrefix(strings.TrimSpace(text), "mailto:")
	if open := strings.IndexByte(text, '<'); open >= 0 && strings.HasSuffix(text, ">") { // a name before the address
		text = text[open+1 : len(text)-1]
	}
	local, domain, ok := strings.Cut(text, "@")
	return ok && local != "" && domain != "" && !strings.ContainsAny(domain, "@ \t") && !strings.ContainsAny(local, " \t")
}

func entryComplete(_ Evidence, n entry) Judgement {
	var parts []Judgement
	for _, name := range []string{"id", "acronym", "name", "contact"} {
		value, ok := n.text(name)
		switch {
		case !ok || strings.TrimSpace(value) == "":
			expected := name + ": a text"
			parts = append(parts, Failed("the entry lacks "+name, expected, n.got(name)).aboutMember(name, expected, n.got(name)))
		case name == "contact" && !address(value):
			const expected = "an e-mail address"
			parts = append(parts, Failed("contact is not an e-mail address", expected, n.got(name)).aboutMember(name, expected, n.got(name)))
		default:
			parts = append(parts, aboutEntry())
		}
	}
	return gatherOnce(parts)
}

func entryClean(_ Evidence, n entry) Judgement {
	var parts []Judgement
	for _, name := range recordedURLs() {
		value, _ := n.text(name)
		if value != strings.TrimSpace(value) || strings.IndexFunc(value, unicode.IsControl) >= 0 {
			const expected = "a URL without blanks and control characters"
			parts = append(parts, Failed("the "+urlOf(name)+" has blanks or control characters, which many clients do not trim", expected, n.got(name)).
				aboutMember(name, expected, n.got(name)))
		}
	}
	if twins := n.facts.Twins; len(twins) > 0 {
		const expected = "one entry"
		id, _ := n.text("id")
		j := Failed("the registry holds more than one entry with this id, so clients may take another one", expected, fmt.Sprintf("%d entries %s", len(twins)+1, quote(id)))
		for i, t := range twins {
			j = j.About(Subject{Name: fmt.Sprintf("entry %d with the id %s", i+2, quote(id)), Label: evidence.Registry.With(evidence.OK),
				Expected: "none", Got: clip("oauth2 " + t.TokenURL + ", info " + t.InfoURL)})
		}
		parts = append(parts, j)
	}
	for _, pointer := range openapi.RepeatedMembers(n.raw) {
		const expected = "each member once"
		parts = append(parts, Failed("the entry holds a member twice; parsers disagree on which one counts", expected, clip(pointer)+" twice").
			aboutMember(strings.TrimPrefix(pointer, "/"), expected, "twice"))
	}
	for _, pointer := range n.facts.Repeated {
		const expected = "each member once"
		parts = append(parts, Failed("the registry document holds a member twice; parsers disagree on which one counts", expected, clip(pointer)+" twice").
			About(Subject{Name: "member " + clip(strings.TrimPrefix(pointer, "/")) + " of the registry document", Label: evidence.Registry.With(evidence.OK), Expected: expected, Got: "twice"}))
	}
	return gatherOnce(append(parts, aboutEntry().Noting(n.remarks()...)))
}

// remarks are observations that change nothing.
func (n entry) remarks() []string {
	var notes []string
	if name, _ := n.text("name"); name != strings.TrimSpace(name) {
		notes = append(notes, "the name has blanks around it")
	}
	testing := regexp.MustCompile(`(?i)(^|[^a-z])(staging|stage|test|dev|sandbox)([^a-z]|$)`)
	for _, name := range recordedURLs() {
		value, _ := n.text(name)
		if word := testing.FindStringSubmatch(value); word != nil {
			notes = append(notes, fmt.Sprintf("the %s looks like one of a test environment (%s)", urlOf(name), strings.ToLower(word[2])))
		}
	}
	return notes
}

func entryHoldsNoSecret(e Evidence, n entry) Judgement {
	telling := regexp.MustCompile(`(?i)secret|password|client_?id`)
	marker := regexp.MustCompile(`\[\[([A-Za-z0-9_.-]+):[0-9a-f]{8}:[a-z0-9]+\]\]`)
	var parts []Judgement
	const expected = "no secret"
	openapi.EachMember(n.raw, func(pointer, name string, value []byte) {
		pointer = strings.TrimPrefix(pointer, "/")
		var text string
		_ = json.Unmarshal(value, &text) // anything but a string has no text
		switch found := marker.FindStringSubmatch(name + text); {
		case found != nil:
			got := "the " + found[1] + " of this run"
			parts = append(parts, Failed("the entry holds a secret that this run uses, for everybody to read", expected, got).aboutMember(pointer, expected, got))
		case telling.MatchString(name) && !empty(value):
			got := "a member " + quote(name)
			parts = append(parts, Failed("the entry has a member whose name speaks of credentials", expected, got).aboutMember(pointer, expected, got))
		case text != "" && text == e.Run.ClientID && name != "id" && name != "acronym" && name != "name":
			got := "the client id of this run"
			parts = append(parts, Failed("the entry holds the client id that this run uses", expected, got).aboutMember(pointer, expected, got))
		}
	})
	return gatherOnce(append(parts, aboutEntry()))
}

// empty is a value that tells nothing: null, "", {} or [].
func empty(value []byte) bool {
	return hollow(value) || bytes.Equal(bytes.TrimSpace(value), []byte(`""`))
}
