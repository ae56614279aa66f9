package fault

import (
	"net/http"
	"sync"
	"time"
)

// lockDeviations are locks after wrong secrets that concern others, too.
func lockDeviations() []Deviation {
	return []Deviation{
		{Name: "lock-for-all-clients", Breaks: []string{"TOK-18"},
			Why:  "The document says that wrong secrets lock their client out; the lock is kept by address, so that it is one for all clients behind a proxy.",
			Wrap: both(describeLock(), stateful(func() wrap { return lockAfterWrongSecrets(func(string) string { return "" }) }))},
	}
}

// lockHabits are locks after wrong secrets that concern the client alone.
func lockHabits() []Deviation {
	return []Deviation{
		{Name: "lock-for-one-client",
			Why:  "Wrong secrets of a client lock this client out for a second, as the document says, and no other.",
			Wrap: both(describeLock(), stateful(func() wrap { return lockAfterWrongSecrets(func(client string) string { return client }) }))},
	}
}

// describeLock adds the promise to the document.
func describeLock() wrap {
	return editDocument(func(d apiDocument) {
		info := d.at("info")
		info["description"] = text(info["description"]) + " Nine wrong secrets of a client in a row lock this client out of the token endpoint for a second: 429 with Retry-After."
	})
}

// lockAfterWrongSecrets answers token requests with 429 for a second after nine wrong secrets of a client in a row. lockOf names the lock of a client.
func lockAfterWrongSecrets(lockOf func(client string) string) wrap {
	const allowed = 9
	var mu sync.Mutex
	failures, locked := map[string]int{}, map[string]time.Time{}
	return rewriteToken(func(_ tokenRequest, a *answer) bool { return a.client() != "" }, func(a *answer) {
		mu.Lock()
		defer mu.Unlock()
		client := a.client()
		lock := lockOf(client)
		if a.env.Now().Before(locked[lock]) {
			a.become(http.StatusTooManyRequests, "application/json", `{"error":"temporarily_unavailable","error_description":"Too many wrong secrets."}`)
			a.set("Retry-After", "1")
			return
		}
		if a.Status != http.StatusUnauthorized {
			delete(failures, client)
			return
		}
		if len(failures) > allowed*100 {
			clear(failures) // clients that do not exist
		}
		if failures[client]++; failures[client] == allowed {
			delete(failures, client)
			locked[lock] = a.env.Now().Add(time.Second)
		}
	})
}
