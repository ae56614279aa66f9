package openapi

import (
	"regexp"
	"slices"
	"strings"
)

// LocksOneClient reports whether the description of the whole API says that wrong secrets of a client lock this client out of the token endpoint. A document
// that counts by address, or that limits requests in general, promises other clients nothing.
func (d *Document) LocksOneClient() bool {
	raw, _ := d.Raw("/info/description")
	attempt := regexp.MustCompile(`(?i)\b(?:wrong|failed|false|bad|falsch\w*|fehlgeschlagen\w*|fehl)[ -]?[^.;]{0,20}(?:secret|authentication|attempt|login|credential|geheimnis|anmeld|versuch)`)
	lock := regexp.MustCompile(`(?i)\b(?:locks?|locked|429|sperrt|gesperrt)\b`)
	oneClient := regexp.MustCompile(`(?i)\b(?:(?:a|the|this|that|one|of a|for a) (?:client|account)|(?:ein|das|dieses|der|dieser|eines) (?:konto|client|zugang)|its token requests)\b`)
	// The sentence is about several callers, or denies or allows something.
	other := regexp.MustCompile(`(?i)\b(?:\w*address\w*|\w*adress\w*|ips?|hosts?|proxy|networks?|netz\w*|all|every|each|alle\w*|jede\w*|institutions?|affiliations?|einrichtung\w*|not|never|may|can|nicht|nie|kein\w*|kann|können)\b`)
	general := regexp.MustCompile(`(?i)\b429\b|\brate[ -]limit|\brequests (?:per|a|an|in) |\banfragen (?:pro|je|in) `)
	isPromise := func(sentence string) bool {
		return attempt.MatchString(sentence) && lock.MatchString(sentence) && oneClient.MatchString(sentence) && !other.MatchString(sentence)
	}
	sentences := regexp.MustCompile(`[.;!?](?: |$)`).Split(strings.Join(strings.Fields(stringValue(raw)), " "), -1)
	return slices.ContainsFunc(sentences, isPromise) &&
		!slices.ContainsFunc(sentences, func(s string) bool { return general.MatchString(s) && !isPromise(s) })
}
