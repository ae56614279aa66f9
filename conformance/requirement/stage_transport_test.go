package requirement_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rin-network/rin/conformance/exchange"
)

// registry reads "none", "merge {JSON merge patch}", or the entry as it stands, which may repeat members.
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
	label := exchange.Label(name)
	h, known := s.shaken[label]
	if !known {
		s.order = append(s.order, label)
		h = exchange.Handshake{Label: label, Attempts: 1}
	}
	before, err := json.Marshal(h)
	if err != nil {
		return err
	}
	var after exchange.Handshake
	if err := patched(before, patch, &after); err != nil {
		return fmt.Errorf("handshake %s: %w", name, err)
	}
	s.unskip(label)
	s.shaken[label] = after
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
