package probe

// transported plans handshakes and cleartext requests (TLS).
func transported() theme { return theme{} }
