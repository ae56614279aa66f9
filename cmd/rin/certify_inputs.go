package main

import (
	"fmt"
	"strings"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/target"
)

// credentials reads every secret that was named into the target.
func (c *certifyFlags) credentials(w world, t *target.Target) error {
	stdin := &stdinOnce{from: w.in}
	var err error
	if t.Credentials, err = c.first.read(w, "--client-id", "--client-secret", stdin); err != nil {
		return err
	}
	if t.Second, err = c.second.optional(w, "--client-id2", "--client-secret2", stdin); err != nil {
		return err
	}
	if t.Other, err = c.other.optional(w, "--other-client-id", "--other-client-secret", stdin); err != nil {
		return err
	}
	staging, err := c.staging.optional(w, "--staging-client-id", "--staging-client-secret", stdin)
	if err != nil {
		return err
	}
	if staging != nil || c.stagingURL != "" {
		t.Staging = &target.Staging{TokenURL: c.stagingURL}
		if staging != nil {
			t.Staging.Credentials = *staging
		}
	}
	if c.expired != "" {
		t.ExpiredToken, err = readSecret(w, "--expired-token", c.expired, stdin)
	}
	return err
}

// attestation reads "yes" or "no", with a colon and more words after it if the operator likes; nil for no answer.
func attestation(flag, text string) (*exchange.Attestation, error) {
	if text == "" {
		return nil, nil
	}
	answer, how, _ := strings.Cut(text, ":")
	a := &exchange.Attestation{How: strings.TrimSpace(how)}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "yes":
		a.Holds = true
	case "no":
	default:
		return nil, usage(fmt.Errorf("%s: expected yes or no, got %.60q", flag, text), "write yes or no, and how after a colon: 'yes: rate limit at the gateway'")
	}
	return a, nil
}
