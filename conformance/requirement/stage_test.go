package requirement_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
)

func (s *stage) roles(f map[string]string) error {
	for key, value := range f {
		switch key {
		case "P":
			s.log.Roles.ProbeTarget = evidence.Resource(value)
		case "list":
			s.log.Roles.List = evidence.Resource(value)
		case "detail":
			s.log.Roles.Detail = evidence.Resource(value)
		case "other":
			list, detail, _ := strings.Cut(value, ",")
			s.log.Roles.OtherLists = []evidence.ListRoles{{List: evidence.Resource(list), Detail: evidence.Resource(detail)}}
		case "base":
			s.log.Roles.OperationBase = value
		case "tried":
			s.log.Roles.BaseTried = strings.Split(value, ",")
		case "operations":
			s.log.Roles.Operations = nil
			for _, r := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' }) {
				s.log.Roles.Operations = append(s.log.Roles.Operations, evidence.Resource(r))
			}
		default:
			return fmt.Errorf("unknown role %q", key)
		}
	}
	return nil
}

func (s *stage) run(f map[string]string) error {
	r := &s.log.Run
	for key, value := range f {
		switch key {
		case "tokenUrl":
			r.TokenURL = value
		case "infoUrl":
			r.InfoURL = value
		case "specUrl":
			r.SpecURL = value
		case "baseUrl":
			r.BaseURL = value
		case "profile":
			r.Profile = value
		case "nodeId":
			r.NodeID = value
		case "authorities":
			r.Authorities = value == "true"
		case "clientId":
			r.ClientID = value
		case "loopback":
			r.Loopback = value == "true"
		case "shortSecret":
			r.ShortSecret = value == "true"
		case "specDerived":
			r.SpecDerived = value == "true"
		case "secondClient":
			r.Second = value == "true"
		case "otherClient":
			r.Other = value == "true"
		case "expiredToken":
			r.ExpiredToken = value == "true"
		case "stagingTokenUrl":
			r.StagingTokenURL = value
		case "tokenInUrl":
			r.TokenInURL = value == "true"
		case "secretInUrl":
			r.SecretInURL = value == "true"
		case "wait":
			d, err := time.ParseDuration(value)
			if err != nil {
				return err
			}
			r.Wait = d
		case "gap":
			operation, reason, _ := strings.Cut(value, ": ")
			r.Gaps = append(slices.Clone(r.Gaps), evidence.Gap{Operation: operation, Reason: reason})
		case "bruteForce":
			answer, how, _ := strings.Cut(value, ": ")
			r.BruteForce = &evidence.Attestation{Holds: answer == "yes", How: how}
			if answer == "none" {
				r.BruteForce = nil
			}
		default:
			return fmt.Errorf("unknown run field %q", key)
		}
	}
	return nil
}

// skip reads "<label> <kind>: <because>".
func (s *stage) skip(rest string) error {
	label, rest, _ := strings.Cut(rest, " ")
	kind, because, ok := strings.Cut(rest, ": ")
	switch k := evidence.NotSentKind(kind); {
	case ok && slices.Contains([]evidence.NotSentKind{evidence.Unmet, evidence.NotApplicable, evidence.OverBudget, evidence.Stopped}, k):
		s.remove(evidence.Label(label))
		s.log.NotSent = append(s.log.NotSent, evidence.NotSent{Label: evidence.Label(label), Kind: k, Because: because})
		return nil
	}
	return fmt.Errorf("skip wants <label> unmet|not-applicable|over-budget|stopped: <because>")
}

func (s *stage) unskip(l evidence.Label) {
	s.log.NotSent = slices.DeleteFunc(s.log.NotSent, func(n evidence.NotSent) bool { return n.Label == l })
}

// remove takes away what the base says of a label, or of all labels of a resource ("op/getFunding.*").
func (s *stage) remove(l evidence.Label) {
	for _, known := range slices.Clone(s.order) {
		if known == l || l.Case() == "*" && known.Resource() == l.Resource() {
			delete(s.exchanges, known)
			delete(s.handshakes, known)
			delete(s.findings, known)
			s.order = slices.DeleteFunc(s.order, func(o evidence.Label) bool { return o == known })
		}
	}
	s.unskip(l)
}

// describe sets the node's document: "<attachment>", "none", "refused: <why>", or "merge <JSON merge patch>".
func (s *stage) describe(rest string) error {
	if why, refused := strings.CutPrefix(rest, "refused: "); refused {
		s.document = evidence.Document{Refused: why}
		return nil
	}
	if rest == "none" {
		s.document = evidence.Document{}
		return nil
	}
	if patch, ok := strings.CutPrefix(rest, "merge "); ok {
		if file, attached := s.files[patch]; attached {
			patch = file
		}
		var target, change any
		if err := json.Unmarshal(s.document.Reduced, &target); err != nil {
			return fmt.Errorf("document to patch: %w", err)
		}
		if err := json.Unmarshal([]byte(patch), &change); err != nil {
			return fmt.Errorf("patch: %w", err)
		}
		reduced, err := json.Marshal(merge(target, change))
		s.document.Reduced = reduced
		return err
	}
	file, ok := s.files[rest]
	if !ok {
		return fmt.Errorf("no attachment %q", rest)
	}
	s.document = evidence.Document{Reduced: json.RawMessage(file)}
	if !json.Valid(s.document.Reduced) {
		return fmt.Errorf("attachment %q is not JSON", rest)
	}
	return nil
}

// merge is RFC 7396.
func merge(target, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	t, ok := target.(map[string]any)
	if !ok {
		t = map[string]any{}
	}
	for key, value := range p {
		if value == nil {
			delete(t, key)
		} else {
			t[key] = merge(t[key], value)
		}
	}
	return t
}

// finding reads "judged <label> items=n", "unjudged <label> why=…" and "finding <label> <kind> <path> expected=… got=…".
func (s *stage) finding(word, rest string) error {
	name, rest, _ := strings.Cut(rest, " ")
	label := evidence.Label(name)
	found := s.findings[label]
	if found == nil || word != "finding" {
		found = &evidence.SchemaFindings{Label: label, Judged: word != "unjudged", Items: 1}
		s.findings[label] = found
	}
	if word != "finding" {
		f := fields(rest)
		found.Why, found.Undecided = f["why"], f["undecided"] == "true"
		if f["items"] != "" {
			_, err := fmt.Sscan(f["items"], &found.Items)
			return err
		}
		return nil
	}
	kind, rest, _ := strings.Cut(rest, " ")
	path, rest, _ := strings.Cut(rest, " ")
	f := fields(rest)
	found.Findings = append(found.Findings, evidence.Finding{Kind: evidence.FindingKind(kind), Path: path,
		Expected: f["expected"], Got: f["got"], Keyword: f["keyword"], Erratum: f["erratum"]})
	found.Total = len(found.Findings)
	return nil
}

// evidence is the finished log.
func (s *stage) evidence() *evidence.Log {
	log := s.log
	log.Run.Schema = evidence.Schema
	for _, l := range s.order {
		if h, made := s.handshakes[l]; made {
			log.Handshakes = append(log.Handshakes, h)
			continue
		}
		log.Exchanges = append(log.Exchanges, s.exchanges[l])
		if f := s.findings[l]; f != nil {
			log.Findings = append(log.Findings, *f)
		}
	}
	log.Planned = slices.Clone(s.order)
	for _, n := range log.NotSent {
		log.Planned = append(log.Planned, n.Label)
	}
	if s.document.Reduced != nil || s.document.Refused != "" {
		document := s.document
		log.Document = &document
	}
	log.Ended = &evidence.Ended{Complete: s.cause == "", Cause: s.cause, Requests: len(log.Exchanges)}
	return probe.WithWords(&log)
}

// registry reads "none", "merge {JSON merge patch}", or the entry as it is, which may repeat members.
func (s *stage) registry(rest string) error {
	if rest == "none" {
		s.log.Registry, s.log.RegistryFacts = nil, nil
		return nil
	}
	patch, isPatch := strings.CutPrefix(rest, "merge ")
	if !isPatch {
		s.log.Registry = json.RawMessage(rest)
	} else if err := patched(s.log.Registry, patch, &s.log.Registry); err != nil {
		return fmt.Errorf("registry entry: %w", err)
	}
	if !json.Valid(s.log.Registry) {
		return fmt.Errorf("the registry entry is not JSON")
	}
	return nil
}

// handshake reads "<label> {JSON merge patch}" onto the handshake of that label, or a new one.
func (s *stage) handshake(rest string) error {
	name, patch, _ := strings.Cut(rest, " ")
	label := evidence.Label(name)
	h, known := s.handshakes[label]
	if !known {
		s.order = append(s.order, label)
		h = evidence.Handshake{Label: label, Attempts: 1}
	}
	before, err := json.Marshal(h)
	if err != nil {
		return err
	}
	var after evidence.Handshake
	if err := patched(before, patch, &after); err != nil {
		return fmt.Errorf("handshake %s: %w", name, err)
	}
	s.unskip(label)
	s.handshakes[label] = after
	return nil
}

// patched applies a merge patch (RFC 7396) to a JSON text and decodes the result.
func patched(text []byte, patch string, into any) error {
	var target, change any
	if err := json.Unmarshal(text, &target); err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(patch), &change); err != nil {
		return fmt.Errorf("patch: %w", err)
	}
	merged, err := json.Marshal(merge(target, change))
	if err != nil {
		return err
	}
	return json.Unmarshal(merged, into)
}
