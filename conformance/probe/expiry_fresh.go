package probe

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
)

// This file uses a token of its own while the run waits for others to expire: a server that drops its signing key, or forgets its tokens, from time to time
// ends tokens early, and the token that is tried before its end may have been spared.

// freshToken is the name of the token that the run uses while it waits.
const freshToken = "fresh token"

// lostEarly is the case of the call with that token after it was refused before its stated end.
const lostEarly evidence.Case = "lost-early"

// freshInUse is a token that is used while the run waits.
type freshInUse struct {
	resource Resource
	token    Token
}

// takeFresh requests the token. It returns nil if there is nothing to judge: its end is not known, or the server hands out a token again.
func (r *run) takeFresh(ctx context.Context, used []tokenInUse) *freshInUse {
	i := slices.IndexFunc(used, func(u tokenInUse) bool { return r.isProbeTarget(u.resource.Name) })
	if i < 0 || r.facts.handsOutAgain() || r.facts.token(freshToken).Value != "" {
		return nil
	}
	t, ok := r.requestFresh(ctx)
	if !ok || t.Until.IsZero() {
		return nil
	}
	return &freshInUse{used[i].resource, t}
}

// requestFresh requests a token without a label.
func (r *run) requestFresh(ctx context.Context) (Token, bool) {
	t, ok := ReadToken(r.recorder.Send(ctx, TokenRequest(r.Target, ClientSecret, Credentialed(r.Target.Credentials)...)), r.Clock())
	if ok {
		r.facts.keep(freshToken, t)
	}
	return t, ok
}

// use calls with the token. If it is refused well before its end, and a new one works, use sends it again, with a label. It returns nil if the token is not to
// be used any more.
func (r *run) use(ctx context.Context, f *freshInUse) *freshInUse {
	if f == nil || r.Clock().After(f.token.Until.Add(-2*beforeEnd)) {
		return nil
	}
	call := f.resource.Authorized(f.token.Value)
	if r.recorder.Send(ctx, call).Status != http.StatusUnauthorized {
		return f
	}
	if t, ok := r.requestFresh(ctx); !ok || !r.recorder.Send(ctx, f.resource.Authorized(t.Value)).OK() {
		return nil
	}
	call.Label, call.Words = f.resource.Name.With(lostEarly), "with a token that was used during the wait, before its stated end"
	call.Given = map[string]string{"left": f.token.Until.Sub(r.Clock()).Round(time.Second).String(), "until": f.token.Until.UTC().Format(time.RFC3339Nano)}
	r.recorder.Send(ctx, call)
	return nil
}

// sentDuringWait says why the call with the label was not sent. If it was, its label has ended, and the reason is ignored.
func sentDuringWait(context.Context, *run, evidence.Resource) (recorder.Request, *unsent) {
	return recorder.Request{}, notApplicable("it is sent only during the wait for another token to expire, and if a token is refused before its end then")
}
