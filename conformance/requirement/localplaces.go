package requirement

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// This file finds URLs that no client of the network can reach: addresses inside a machine or a network. Nothing is resolved or called.

// onMachine is the place of loopback addresses.
const onMachine = "an address of the machine itself"

// unreachablePlace names the place of a host that clients cannot reach, such as "a private address". It returns "" if they may reach the host of the URL. A
// node that is itself inside a network may name its neighbours.
func unreachablePlace(e Evidence, raw string) string {
	place := localPlace(evidence.HostOf(raw))
	tested := []string{e.Run.TokenURL, e.Run.InfoURL, e.Run.SpecURL, e.Run.BaseURL}
	if place == "" || place == onMachine && e.Run.Loopback || slices.ContainsFunc(tested, func(own string) bool { return localPlace(evidence.HostOf(own)) == place }) {
		return ""
	}
	return place
}

// localPlace describes the place to which a host name or address is confined. It returns "" for a public or empty host.
func localPlace(host string) string {
	if evidence.LoopbackHost(host) {
		return onMachine
	}
	if address, err := netip.ParseAddr(host); err == nil {
		address = address.Unmap()
		switch {
		case address.IsUnspecified():
			return onMachine
		case address.IsLinkLocalUnicast():
			return "a link-local address"
		case address.IsPrivate():
			return "a private address"
		}
		return ""
	}
	switch {
	case host == "":
		return ""
	case !strings.Contains(host, "."):
		return "a name without a domain"
	}
	for _, suffix := range []string{".internal", ".local", ".localdomain", ".lan", ".home.arpa"} {
		if strings.HasSuffix(host, suffix) {
			return "a name inside a network"
		}
	}
	return ""
}
