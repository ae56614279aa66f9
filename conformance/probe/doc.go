// Package probe asks a node everything that a certification needs to know, and records what came. It never judges.
//
// A run is a [Plan]: lanes of labels. Requests of one lane go out one after the other, lanes run side by side, and a lane starts
// when the stages that it builds on have ended. Plans are pure functions of the target and of the node as discovered, so the
// number of requests is known and told before the first one; how a label is asked stands in one table for each kind of
// resource. A probe decides on recorded facts only ("there is a token"), never on verdicts; what cannot be asked is recorded as
// not sent, with the reason. Every planned label ends as answered, failed or not sent, also when the run is cut short.
//
// Token requests of the first client come before the first authorized call, and the last of them, alone, yields the token that
// the run goes on with: an authorization server that revokes a token with each new one must not spoil everything else. On each
// protected URL the anonymous call comes before the first authorized one (shared caches, RFC 9111 §3.5), and forged credentials
// come after it (whoever is banned for them has been heard first).
package probe
