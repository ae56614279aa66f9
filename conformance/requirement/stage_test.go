package requirement_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/exchange"
)

func (s *stage) roles(f map[string]string) error {
	for key, value := range f {
		switch key {
		case "P":
			s.log.Roles.ProbeTarget = exchange.Resource(value)
		case "list":
			s.log.Roles.List = exchange.Resource(value)
		case "detail":
			s.log.Roles.Detail = exchange.Resource(value)
		case "base":
			s.log.Roles.OperationBase = value
		case "tried":
			s.log.Roles.BaseTried = strings.Split(value, ",")
		case "operations":
			s.log.Roles.Operations = nil
			for _, r := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' }) {
				s.log.Roles.Operations = append(s.log.Roles.Operations, exchange.Resource(r))
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
		case "bruteForce":
			answer, how, _ := strings.Cut(value, ": ")
			r.BruteForce = &exchange.Attestation{Holds: answer == "yes", How: how}
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
	switch k := exchange.NotSentKind(kind); {
	case ok && slices.Contains([]exchange.NotSentKind{exchange.Unmet, exchange.NotApplicable, exchange.OverBudget}, k):
		s.remove(exchange.Label(label))
		s.log.NotSent = append(s.log.NotSent, exchange.NotSent{Label: exchange.Label(label), Kind: k, Because: because})
		return nil
	}
	return fmt.Errorf("skip wants <label> unmet|not-applicable|over-budget: <because>")
}

func (s *stage) unskip(l exchange.Label) {
	s.log.NotSent = slices.DeleteFunc(s.log.NotSent, func(n exchange.NotSent) bool { return n.Label == l })
}

// remove takes away what the base says of a label, or of all labels of a resource ("op/getFunding.*").
func (s *stage) remove(l exchange.Label) {
	for _, known := range slices.Clone(s.order) {
		if known == l || l.Case() == "*" && known.Resource() == l.Resource() {
			delete(s.exchanges, known)
			delete(s.shaken, known)
			delete(s.findings, known)
			s.order = slices.DeleteFunc(s.order, func(o exchange.Label) bool { return o == known })
		}
	}
	s.unskip(l)
}

// describe sets the node's document: "<attachment>", "none", "refused: <why>", or "merge <JSON merge patch>".
func (s *stage) describe(rest string) error {
	if why, refused := strings.CutPrefix(rest, "refused: "); refused {
		s.document = exchange.Document{Refused: why}
		return nil
	}
	if rest == "none" {
		s.document = exchange.Document{}
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
	s.document = exchange.Document{Reduced: json.RawMessage(file)}
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
	label := exchange.Label(name)
	found := s.findings[label]
	if found == nil || word != "finding" {
		found = &exchange.SchemaFindings{Label: label, Judged: word != "unjudged", Items: 1}
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
	found.Findings = append(found.Findings, exchange.Finding{Kind: exchange.FindingKind(kind), Path: path,
		Expected: f["expected"], Got: f["got"], Keyword: f["keyword"], Erratum: f["erratum"]})
	found.Total = len(found.Findings)
	return nil
}

// evidence is the finished log.
func (s *stage) evidence() *exchange.Log {
	log := s.log
	log.Run.Schema = exchange.Schema
	for _, l := range s.order {
		if h, shaken := s.shaken[l]; shaken {
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
	log.Ended = &exchange.Ended{Complete: s.cause == "", Cause: s.cause, Requests: len(log.Exchanges)}
	return &log
}
