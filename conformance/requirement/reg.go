package requirement

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// registryEntry returns the group REG.
func registryEntry() []Requirement {
	read := []evidence.Label{evidence.Registry.With(evidence.OK)}
	return []Requirement{
		{
			ID: "REG-01", Title: "Entry records a token endpoint URL and an info endpoint URL",
			Level: Network, Gate: Gating, Profile: Auth,
			Source:   NET("R6"),
			Quote:    "The token endpoint URL and the info endpoint URL of every participating node are recorded in a registry for production use.",
			Probe:    "The registry document is read and the entry with the node's id is looked up; its members oauth2 and info are the two URLs.",
			Forgives: "A bare array of entries instead of {\"member\": […]}, ids of any form, blanks around the values.",
			Fix:      "Add both members to the entry: oauth2 is the full URL of the token endpoint, info that of the info endpoint.",
			Breaks:   "The entry carries oauth2 but no info.",
			Reads:    read, Check: onEntry(judgeRecordedURLs),
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
			Reads:    read, Check: ifPasses("REG-01", onEntry(judgeURLForms)),
		},
		{
			ID: "REG-03", Title: "Recorded URLs are the ones that work",
			Level: Network, Gate: Gating, Profile: Auth,
			Source:   NET("R6").AsDerived(),
			Quote:    "The token endpoint URL and the info endpoint URL of every participating node are recorded in a registry for production use.",
			Probe:    "The good token request and the good info request go to the recorded URLs unchanged. If the run was given other URLs of the same origin, one more request of each kind goes to the recorded ones.",
			Forgives: "URLs of another origin, which may be another environment: they are not compared. A redirect on the same origin that adds or drops a slash, of which INF-04 warns.",
			Fix:      "Record exactly the URL that works, or let the recorded one work.",
			Breaks:   "info is recorded with a path that answers 404; the real one differs by a segment.",
			Reads: append(read, evidence.TokenEndpoint.With(evidence.OK), evidence.Info.With(evidence.OK),
				evidence.RecordedToken.With(evidence.OK), evidence.RecordedInfo.With(evidence.OK)),
			Check: ifPasses("REG-01", onEntry(judgeRecordedCalls)),
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
			Reads:    read, Check: onEntry(judgeEntryMembers),
		},
		{
			ID: "REG-05", Title: "Entry is clean and unique",
			Level: Recommended, Gate: Advice, Profile: Auth,
			Source:   RFC(8259, "4"),
			Quote:    "The names within an object SHOULD be unique.",
			Probe:    "The URLs of the entry are searched for blanks around them and for control characters, the document for a second entry with the same id, the entry for members that it has twice.",
			Forgives: "Two entries of one institution under different ids. Blanks around the name, and hosts or realms that look like staging or test, are noted only.",
			Fix:      "Remove blanks and repeated members, and keep one entry for each id.",
			Breaks:   "The id appears twice with different token URLs.",
			Reads:    read, Check: onEntry(judgeEntryForm),
		},
		{
			ID: "REG-06", Title: "Entry holds no secret",
			Level: Network, Gate: Gating, Profile: Auth,
			Source:   NET("R19").AsDerived(),
			Quote:    "The client ID and client secret are highly sensitive and are passed on only through a secure channel.",
			Probe:    "The entry is searched for the secrets and the client id of this run, and for members whose name speaks of a secret, a password or a client id.",
			Forgives: "Texts and links that mention client_secret: only names of members and exact values count.",
			Fix:      "Remove the member from the entry, and issue new credentials: everyone who has read the registry knows the old ones.",
			Breaks:   "The entry has a member client_secret.",
			Reads:    read, Check: onEntry(judgeEntrySecrets),
		},
	}
}

// entry is a registry entry as it was recorded.
type entry struct {
	raw     []byte
	members map[string][]byte
	facts   evidence.RegistryFacts
}

// onEntry makes a check of the registry entry. It does not apply to a run that was given bare URLs.
func onEntry(check func(e Evidence, n entry) Judgement) func(Evidence) Judgement {
	return func(e Evidence) Judgement {
		if e.Run.NodeID == "" {
			return Inapplicable("the run was given URLs, not a registry")
		}
		if len(e.Registry) == 0 {
			cause := "the entry was not recorded"
			if e.Ended != nil && e.Ended.Cause != "" {
				cause = clip(e.Ended.Cause)
			}
			hint := "check --registry and --node, then repeat the run"
			if x, sent := e.Get(evidence.Registry.With(evidence.OK)); sent && x.Failure != nil {
				hint = cmp.Or(e.reachHint(x), hint)
			}
			return Unclear("there is no registry entry to judge: " + cause).Hinting(hint).Seen(evidence.Registry.With(evidence.OK))
		}
		n := entry{raw: e.Registry, members: openapi.Object(e.Registry)}
		if e.RegistryFacts != nil {
			n.facts = *e.RegistryFacts
		}
		return check(e, n)
	}
}

// text returns a member that is a string.
func (n entry) text(name string) (value string, ok bool) {
	raw, has := n.members[name]
	return value, has && json.Unmarshal(raw, &value) == nil && bytes.HasPrefix(bytes.TrimSpace(raw), []byte(`"`))
}

// url returns a URL of the entry without the blanks around it.
func (n entry) url(name string) string {
	value, _ := n.text(name)
	return strings.TrimSpace(value)
}

// got describes a member for [Judgement.Got].
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

// registrySubject returns a part of the registry document as a subject.
func registrySubject(name, expected string) Subject {
	return Subject{Name: name, Label: evidence.Registry.With(evidence.OK), Expected: expected}
}

// entrySubject returns a member of the entry as a subject.
func entrySubject(member, expected string) Subject {
	return registrySubject("member "+clip(member)+" of the registry entry", expected)
}

// gatherEntry gathers faults of the entry; without any, the entry passes.
func gatherEntry(parts ...Judgement) Judgement {
	j := gather(append(parts, Passed())...)
	if j.Outcome == Pass {
		j = j.About(registrySubject("registry entry", ""))
	}
	return j
}

// recordedURL is a member of an entry that holds a URL.
type recordedURL struct {
	member string
	name   string // in messages
}

func recordedTokenURL() recordedURL { return recordedURL{"oauth2", "token endpoint URL"} }

func recordedInfoURL() recordedURL { return recordedURL{"info", "info endpoint URL"} }

func recordedURLs() []recordedURL { return []recordedURL{recordedTokenURL(), recordedInfoURL()} }

// judgeRecordedURLs is the check of REG-01.
func judgeRecordedURLs(_ Evidence, n entry) Judgement {
	var faults []Judgement
	for _, u := range recordedURLs() {
		if n.url(u.member) == "" {
			faults = append(faults, entrySubject(u.member, u.member+": a URL").failed("the entry does not record the "+u.name, n.got(u.member)))
		}
	}
	return gatherEntry(faults...)
}

// judgeURLForms is the check of REG-02.
func judgeURLForms(e Evidence, n entry) Judgement {
	if j := gather(
		judgeURLForm(e, recordedTokenURL(), n, e.Run.TokenURL),
		judgeURLForm(e, recordedInfoURL(), n, e.Run.InfoURL),
	); j.Outcome != Pass {
		return j
	}
	return gatherEntry()
}

// judgeURLForm judges the form of one recorded URL. given is the URL that the run was given. Plain http is tolerated if the whole node is on loopback
// and uses it.
func judgeURLForm(e Evidence, recorded recordedURL, n entry, given string) Judgement {
	value := n.url(recorded.member)
	fail := func(reason, got string) Judgement {
		return entrySubject(recorded.member, "an absolute https URL").failed("the recorded "+recorded.name+" "+reason, clip(got))
	}
	u, err := url.Parse(value)
	switch {
	case err != nil:
		return fail("cannot be read as a URL", value)
	case u.User != nil:
		u.User = nil
		return fail("contains a user name or password", "user name or password before "+u.String())
	case u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return fail("is not absolute", value)
	case strings.Contains(value, "#"):
		return fail("has a fragment", value)
	case u.Scheme == "http" && e.Run.Loopback && strings.HasPrefix(given, "http:"):
		return Inapplicable("the node is on loopback, where plain http is tolerated")
	case u.Scheme == "http":
		return fail("is not https: secrets and tokens would travel in cleartext", value)
	}
	return Passed()
}

// judgeRecordedCalls is the check of REG-03.
func judgeRecordedCalls(e Evidence, n entry) Judgement {
	token, info := recordedTokenURL(), recordedInfoURL()
	return gather(
		judgeRecordedCall(e, token.name, n.url(token.member), e.Run.TokenURL, evidence.RecordedToken, evidence.TokenEndpoint, "TOK-01"),
		judgeRecordedCall(e, info.name, n.url(info.member), e.Run.InfoURL, evidence.RecordedInfo, evidence.Info, "INF-01"),
	)
}

// judgeRecordedCall judges whether one recorded URL works. given is the URL that the run was given, and used for its requests. If both are the same, the good
// request is the evidence: endpoint is its resource, and goodRequest the requirement that judges it. If both have the same origin and differ in the rest, the
// run also sent one request to the recorded URL, whose resource is extra.
func judgeRecordedCall(e Evidence, name, recorded, given string, extra, endpoint evidence.Resource, goodRequest ID) Judgement {
	if recorded == given {
		if j, ok := e.passes(goodRequest); !ok {
			return j
		}
		return Passed(endpoint.With(evidence.OK))
	}
	label := extra.With(evidence.OK)
	x, sent := e.Get(label)
	if !sent {
		if _, planned := e.Skipped(label); planned {
			j, _ := e.missingAnswer(label)
			return j
		}
		if evidence.OriginOf(recorded) != evidence.OriginOf(given) {
			note := fmt.Sprintf("the recorded %s has another origin than the one that this run was given, so it was not called", name)
			return Inapplicable(note).Noting(note)
		}
		return Unclear("the recorded " + name + " was not called")
	}
	if success(x) {
		return Passed(label)
	}
	if good := e.exchange(endpoint.With(evidence.OK)); !success(good) {
		return expect(x, "2xx").unclear("the "+name+" works neither as recorded nor as given", describe(x))
	}
	if j, unclear := inconclusiveAnswer(x); unclear {
		return j
	}
	return expect(x, "2xx, as at the URL that this run was given").failed("the recorded "+name+" does not work; the one that this run was given does", describe(x)).
		Hinting(clip("record " + given))
}

// isMailAddress reports whether a text has the form local@domain, perhaps with a name before it.
func isMailAddress(text string) bool {
	text = strings.TrimPrefix(strings.TrimSpace(text), "mailto:")
	if open := strings.IndexByte(text, '<'); open >= 0 && strings.HasSuffix(text, ">") {
		text = text[open+1 : len(text)-1]
	}
	local, domain, ok := strings.Cut(text, "@")
	return ok && local != "" && domain != "" && !strings.ContainsAny(domain, "@ \t") && !strings.ContainsAny(local, " \t")
}

// judgeEntryMembers is the check of REG-04.
func judgeEntryMembers(_ Evidence, n entry) Judgement {
	var faults []Judgement
	for _, name := range []string{"id", "acronym", "name", "contact"} {
		value, _ := n.text(name)
		if strings.TrimSpace(value) == "" {
			faults = append(faults, entrySubject(name, name+": a text").failed("the entry lacks "+name, n.got(name)))
		} else if name == "contact" && !isMailAddress(value) {
			faults = append(faults, entrySubject(name, "an e-mail address").failed("contact is not an e-mail address", n.got(name)))
		}
	}
	return gatherEntry(faults...)
}

// judgeEntryForm is the check of REG-05.
func judgeEntryForm(_ Evidence, n entry) Judgement {
	var faults []Judgement
	for _, u := range recordedURLs() {
		value, _ := n.text(u.member)
		if value != strings.TrimSpace(value) || strings.ContainsFunc(value, unicode.IsControl) {
			faults = append(faults, entrySubject(u.member, "a URL without blanks and control characters").
				failed("the "+u.name+" has blanks or control characters, which many clients do not trim", n.got(u.member)))
		}
	}
	if twins := n.facts.Twins; len(twins) > 0 {
		id, _ := n.text("id")
		j := Failed("the registry has more than one entry with this id, so clients may take another one", "one entry", fmt.Sprintf("%d entries %s", len(twins)+1, quote(id)))
		for i, t := range twins {
			s := registrySubject(fmt.Sprintf("entry %d with the id %s", i+2, quote(id)), "none")
			s.Got = clip("oauth2 " + t.TokenURL + ", info " + t.InfoURL)
			j = j.About(s)
		}
		faults = append(faults, j)
	}
	for _, pointer := range openapi.RepeatedMembers(n.raw) {
		faults = append(faults, entrySubject(strings.TrimPrefix(pointer, "/"), "each member once").
			failed("the entry has a member twice; parsers disagree on which one counts", clip(pointer)+" twice"))
	}
	for _, pointer := range n.facts.Repeated {
		faults = append(faults, registrySubject("member "+clip(strings.TrimPrefix(pointer, "/"))+" of the registry document", "each member once").
			failed("the registry document has a member twice; parsers disagree on which one counts", clip(pointer)+" twice"))
	}
	return gatherEntry(faults...).Noting(n.remarks()...)
}

// remarks returns notes about the entry. They do not change the outcome.
func (n entry) remarks() []string {
	var notes []string
	if name, _ := n.text("name"); name != strings.TrimSpace(name) {
		notes = append(notes, "the name has blanks around it")
	}
	testing := regexp.MustCompile(`(?i)(^|[^a-z])(staging|stage|test|dev|sandbox)([^a-z]|$)`)
	for _, u := range recordedURLs() {
		value, _ := n.text(u.member)
		if word := testing.FindStringSubmatch(value); word != nil {
			notes = append(notes, fmt.Sprintf("the %s looks like one of a test environment (%s)", u.name, strings.ToLower(word[2])))
		}
	}
	return notes
}

// judgeEntrySecrets searches the entry for the secrets and the client id of the run, and for members named after credentials.
func judgeEntrySecrets(e Evidence, n entry) Judgement {
	credential := regexp.MustCompile(`(?i)secret|password|client_?id`)
	markers := marker() // the evidence has markers in place of the secrets of the run
	var faults []Judgement
	openapi.EachMember(n.raw, func(pointer, name string, value []byte) {
		want := entrySubject(strings.TrimPrefix(pointer, "/"), "no secret")
		var text string
		_ = json.Unmarshal(value, &text) // text stays empty unless the value is a string

		// The names of a node may equal the client id.
		namesNode := name == "id" || name == "acronym" || name == "name"
		switch found := markers.FindStringSubmatch(name + text); {
		case found != nil:
			faults = append(faults, want.failed("the entry publishes a secret that this run uses", "the "+found[1]+" of this run"))
		case credential.MatchString(name) && !isEmpty(value):
			faults = append(faults, want.failed("the entry has a member whose name speaks of credentials", "a member "+quote(name)))
		case text != "" && text == e.Run.ClientID && !namesNode:
			faults = append(faults, want.failed("the entry publishes the client id that this run uses", "the client id of this run"))
		}
	})
	return gatherEntry(faults...)
}

// isEmpty reports whether a value is null, "", {} or [].
func isEmpty(value []byte) bool {
	return isHollow(value) || bytes.Equal(bytes.TrimSpace(value), []byte(`""`))
}
