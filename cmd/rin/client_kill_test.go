package main_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/control"
)

// clientRecord is what the test knows of a client: the acknowledged steps, and the step that was under way when the sandbox was killed.
type clientRecord struct {
	id, secret string
	state      string // registered, permitted, revoked; empty: its creation was not acknowledged
	rotated    bool
	pending    string // the step that got no answer
}

// doSteps creates a client, grants it access, changes its secret and revokes it. It stops at the first step that fails, because the sandbox is
// killed then. It calls acknowledged after each step that succeeds.
func doSteps(c control.Client, id string, acknowledged func()) clientRecord {
	k := clientRecord{id: id}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"create", func() error {
			created, err := c.Create("XA", control.NewAccount{ClientID: id})
			if err == nil {
				k.secret, k.state = created.Secret, "registered"
			}
			return err
		}},
		{"grant", func() error {
			_, err := c.Grant("XA", id, control.Permission{Role: "EXTERNAL_API_CLIENT", Affiliation: id})
			if err == nil {
				k.state = "permitted"
			}
			return err
		}},
		{"rotate", func() error {
			rotated, err := c.Rotate("XA", id)
			if err == nil {
				k.secret, k.rotated = rotated.Secret, true
			}
			return err
		}},
		{"revoke", func() error {
			if len(id)%2 == 0 { // some clients are not revoked
				return nil
			}
			_, err := c.Revoke("XA", id)
			if err == nil {
				k.state = "revoked"
			}
			return err
		}},
	} {
		if step.do() != nil {
			k.pending = step.name
			return k
		}
		acknowledged()
	}
	return k
}

// expect compares the accounts that a sandbox has stored with what was acknowledged. A step without an answer may have been done or not.
func (k clientRecord) expect(base string, accounts map[string]control.Account) {
	GinkgoHelper()
	stored, exists := accounts[k.id]
	if k.state == "" {
		if exists {
			Expect(stored.State).To(Equal("registered"))
		}
		return
	}
	Expect(exists).To(BeTrue(), "%+v", k)
	after := map[string]string{"grant": "permitted", "revoke": "revoked"}[k.pending]
	Expect(stored.State).To(Or(Equal(k.state), And(Equal(after), Not(BeEmpty()))), "%+v", k)
	if k.rotated {
		Expect(stored.Rotated.IsZero()).To(BeFalse(), "%+v", k)
	}
	if k.pending == "rotate" && !stored.Rotated.IsZero() {
		return // the new secret was lost with the answer
	}
	status, token := tokenFrom(base, k.id, k.secret)
	switch stored.State {
	case "revoked":
		Expect(status).To(Equal(401), "%+v", k)
	case "permitted":
		Expect(status).To(Equal(200), "%+v", k)
		Expect(fundings(base, token)).To(Equal(200), "%+v", k)
	default:
		Expect(status).To(Equal(200), "%+v", k)
	}
}

var _ = Describe("A sandbox with --data that is killed", func() {
	It("keeps every acknowledged step when it is killed 50 times in the middle of steps", func() {
		const kills, workers = 50, 4
		dir := filepath.Join(GinkgoT().TempDir(), "data")
		var all []clientRecord
		var demo string // the secret that was printed at the first start
		checked := 0
		verify := func(base string, c control.Client, clients []clientRecord) {
			GinkgoHelper()
			listed, err := c.Accounts("XA")
			Expect(err).NotTo(HaveOccurred())
			accounts := map[string]control.Account{}
			for _, a := range listed.Accounts {
				accounts[a.ClientID] = a
			}
			for _, k := range clients {
				k.expect(base, accounts)
			}
		}
		for round := range kills {
			base, url, session := controlledSandbox("--calls", "3", "--data", dir)
			c := control.Client{Context: context.Background(), Base: url, Token: controlToken}
			if round == 0 {
				demo = demoSecret(session)
			}
			verify(base, c, all[checked:])
			checked = len(all)

			var acknowledgements atomic.Int64
			killAfter := int64(1 + round%13) // acknowledged steps
			var mu sync.Mutex
			var running sync.WaitGroup
			for worker := range workers {
				running.Go(func() {
					for n := 0; ; n++ {
						k := doSteps(c, fmt.Sprintf("c-%d-%d-%d", round, worker, n), func() {
							if acknowledgements.Add(1) == killAfter {
								session.Kill()
							}
						})
						mu.Lock()
						all = append(all, k)
						mu.Unlock()
						if k.pending != "" {
							return
						}
					}
				})
			}
			running.Wait()
			session.Wait("10s")
		}
		base, url, _ := controlledSandbox("--calls", "3", "--data", dir)
		verify(base, control.Client{Context: context.Background(), Base: url, Token: controlToken}, all)
		status, _ := tokenFrom(base, "demo-client", demo)
		Expect(status).To(Equal(200))
		interrupted := slices.DeleteFunc(all, func(k clientRecord) bool { return k.pending == "" })
		Expect(interrupted).To(HaveLen(kills * workers))
	})
})
