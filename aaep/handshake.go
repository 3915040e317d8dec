package aaep

// decodeHandshake reads a handshake message of one type. Every value that is marked
// unsafe to act on when it is wrong refuses it; unknown members pass.
func decodeHandshake[M any](raw []byte, messageType string) (M, error) {
	return decodeMessage[M](raw, messageType, ModeConsumer)
}

// encodeHandshake writes a handshake message and refuses it where it breaks a rule.
func encodeHandshake(messageType string, message any) ([]byte, error) {
	head := struct {
		Type string `json:"type"`
	}{messageType}
	return encodeChecked(messageType, head, faithful{message})
}

// encodeChecked writes the members of the parts as one message and refuses it where it
// breaks a rule.
func encodeChecked(messageType string, parts ...any) ([]byte, error) {
	raw, err := join(parts...)
	if err != nil {
		return nil, &Error{Code: CodeBadEvent, Message: "cannot write " + messageType + " as JSON", Cause: err}
	}
	if found := Errors(Validate(raw, ModeProducer)); len(found) > 0 {
		return nil, &Error{Code: CodeBadEvent, Message: "the message " + messageType + " breaks a rule; correct it before sending", Violations: found}
	}
	return raw, nil
}
