package exchange

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// state gathers entries to a log. The journal and ReadLog share it, so that live evidence and its recording agree.
type state struct {
	log      Log
	planned  map[Label]int
	answered map[Label]bool
	skipped  map[Label]bool
	rolesSet bool
	runs     int // run records so far: the second one says that the node is located
}

func newState() *state {
	return &state{planned: map[Label]int{}, answered: map[Label]bool{}, skipped: map[Label]bool{}}
}

var errAfterEnd = errors.New("the run has ended")

// apply adds one entry; an error means that the entry contradicts what is there and was left out.
func (s *state) apply(e entry) error {
	if s.log.Ended != nil {
		return fmt.Errorf("%s record: %w", e.Kind, errAfterEnd)
	}
	switch e.Kind {
	case kindRun:
		s.log.Run = *e.Run
		s.runs++
	case kindPlan:
		s.plan(e.Plan)
	case kindRoles:
		s.log.Roles, s.rolesSet = *e.Roles, true
	case kindDocument:
		s.log.Document = e.Document
	case kindRegistry:
		s.log.Registry, s.log.RegistryFacts = e.Registry, e.RegistryFacts
	case kindExchange:
		if err := s.answer(e.Exchange.Label); err != nil {
			return err
		}
		s.log.Exchanges = append(s.log.Exchanges, *e.Exchange)
	case kindHandshake:
		if err := s.answer(e.Handshake.Label); err != nil {
			return err
		}
		s.log.Handshakes = append(s.log.Handshakes, *e.Handshake)
	case kindNotSent:
		if l := e.NotSent.Label; !s.answered[l] && !s.skipped[l] {
			s.skipped[l] = true
			s.log.NotSent = append(s.log.NotSent, *e.NotSent)
		}
	case kindEnded:
		s.log.Ended = e.Ended
	}
	s.log.Findings = append(s.log.Findings, e.Findings...)
	return nil
}

// answer marks a label as answered or failed, once.
func (s *state) answer(l Label) error {
	if s.answered[l] {
		return fmt.Errorf("label %.80q has an exchange already", l)
	}
	s.answered[l] = true
	s.unskip(l)
	return nil
}

func (s *state) plan(labels []Label) {
	for _, l := range labels {
		if _, known := s.planned[l]; !known {
			s.planned[l] = len(s.log.Planned)
			s.log.Planned = append(s.log.Planned, l)
		}
	}
}

func (s *state) unskip(label Label) {
	if s.skipped[label] {
		delete(s.skipped, label)
		s.log.NotSent = slices.DeleteFunc(s.log.NotSent, func(n NotSent) bool { return n.Label == label })
	}
}

// settled reports that nothing more will come for the label.
func (s *state) settled(label Label) bool {
	if s.log.Ended != nil {
		return true
	}
	if label == WholeRun {
		return false
	}
	if role(label.Resource()) && !s.rolesSet {
		return false
	}
	for _, l := range s.log.Resolve(label) {
		if !s.answered[l] && !s.skipped[l] && !s.never(l) {
			return false
		}
	}
	return true
}

// never reports a label that will not be planned any more, among those that a run has by the node's URLs alone: of these all are
// planned when the node is located. The list operation is known with the roles.
func (s *state) never(label Label) bool {
	if _, planned := s.planned[label]; planned {
		return false
	}
	room, _, _ := strings.Cut(string(label.Resource()), "/")
	switch {
	case label.Resource() == CleartextList:
		return s.rolesSet
	case room == "tls", room == "cleartext", room == "entry", label.Resource() == Registry:
		return s.runs > 1
	}
	return false
}

func role(r Resource) bool {
	return r == ProbeTarget || r == ListOperation || r == DetailOperation || r == EveryOperation
}

// snapshot copies the log in plan order; what was not planned follows by label.
func (s *state) snapshot() *Log {
	out := s.log
	out.byLabel = nil
	out.Planned = slices.Clone(s.log.Planned)
	out.Exchanges = slices.Clone(s.log.Exchanges)
	out.NotSent = slices.Clone(s.log.NotSent)
	out.Findings = slices.Clone(s.log.Findings)
	slices.SortStableFunc(out.Exchanges, func(a, b Exchange) int { return s.compare(a.Label, b.Label) })
	out.Handshakes = slices.Clone(s.log.Handshakes)
	slices.SortStableFunc(out.Handshakes, func(a, b Handshake) int { return s.compare(a.Label, b.Label) })
	slices.SortStableFunc(out.NotSent, func(a, b NotSent) int { return s.compare(a.Label, b.Label) })
	slices.SortStableFunc(out.Findings, func(a, b SchemaFindings) int { return s.compare(a.Label, b.Label) })
	for i := range out.Exchanges {
		out.Exchanges[i].Given = maps.Clone(out.Exchanges[i].Given)
	}
	out.index()
	return &out
}

func (s *state) compare(a, b Label) int {
	i, inPlan := s.planned[a]
	j, too := s.planned[b]
	switch {
	case inPlan && too:
		return cmp.Compare(i, j)
	case inPlan:
		return -1
	case too:
		return 1
	}
	return cmp.Compare(a, b)
}
