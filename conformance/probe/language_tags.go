package probe

import (
	"context"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
)

// This file sends the tag of the text in one language with a call in another language, as a cache does that has a copy of the first: RFC 9111 §4.1 lets it ask
// whether the copy fits.

// translation is what a good answer in one language says of itself.
type translation struct{ tag, language, requested string }

// learnLanguage keeps the tag and the language of a good answer that was requested in a language.
func learnLanguage(r *run, _ evidence.Resource, a recorder.Answer) {
	if a.Status == 200 {
		t := translation{a.Header.Get("ETag"), a.Header.Get("Content-Language"), strings.Join(evidence.Values(a.Exchange.Request.Header, "Accept-Language"), ", ")}
		r.facts.with(func(f *facts) { f.languages[a.Exchange.Label] = t })
	}
}

// tagOfOtherLanguage is the call in English with the tag of the other language. It is sent if both have one weak tag; a strong one is wrong already.
func tagOfOtherLanguage() row {
	return row{
		Label: evidence.EveryOperation.With("good-language-tag"), Words: "in English, with the ETag of the other language",
		Plan: in(stageLast).inLane("language tag").onlyIf(notQuick).onDemand(),
		Send: withoutSchemas(controlled(func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
			other, english := r.translationOf(res.Name.With("good-language-de")), r.translationOf(res.Name.With("good-language-en"))
			if !strings.HasPrefix(other.tag, "W/") || other.tag != english.tag || other.language == english.language {
				return recorder.Request{}, notApplicable("the node did not send one weak ETag for two languages")
			}
			q, reason := r.authorized(ctx, res)
			if reason == nil {
				setHeader(&q, "Accept-Language", english.requested)
				setHeader(&q, "If-None-Match", other.tag)
			}
			return q, reason
		})),
	}
}

// translationOf returns what [learnLanguage] kept of a call.
func (r *run) translationOf(l evidence.Label) translation {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	return r.facts.languages[l]
}
