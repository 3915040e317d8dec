package utp

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Command is the payload of a command to a tool service (UTP, "Commands"). The arguments are in the tool.call card that
// it names.
type Command struct {
	ToolName       string         `json:"tool_name"`
	AfterExecution AfterExecution `json:"after_execution"`
	ToolCallCardID string         `json:"tool_call_card_id"`
}

// EncodeCommand writes exactly the three keys; services refuse any other. The error is a
// [*PayloadError].
func EncodeCommand(c Command) ([]byte, error) {
	if !validID(c.ToolName) {
		return nil, &PayloadError{Reason: CodeBadRequest, Field: keyToolName, Found: Shown(c.ToolName), Expected: idRule}
	}
	if !c.AfterExecution.Valid() {
		return nil, &PayloadError{
			Reason: CodeInvalidAfterExecution, Field: keyAfterExecution,
			Found: Shown(string(c.AfterExecution)), Expected: "suspend or terminate",
		}
	}
	if !validID(c.ToolCallCardID) {
		return nil, &PayloadError{Reason: CodeBadRequest, Field: keyToolCallCardID, Found: Shown(c.ToolCallCardID), Expected: idRule}
	}
	out, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("command: %w", err)
	}
	return out, nil
}

// DecodeCommand reads the payload of a command and merges the control fields of the older form into the context of its
// headers. The card is required. A missing tool_name or after_execution is left empty; the card and the registry supply
// it. Do not trust anything in the payload before comparing it with the ledger.
//
// The error is a [*PayloadError]. With invalid_after_execution the rest of the command is still filled in. With every
// error, the returned context is that of the headers alone.
func DecodeCommand(raw []byte, header Context) (Command, Context, error) {
	p, err := decodePayload(raw)
	if err != nil {
		return Command{}, header, err
	}
	merged, err := p.control(header)
	if err != nil {
		return Command{}, header, err
	}
	var c Command
	if c.ToolName, err = p.text(keyToolName); err != nil {
		return Command{}, header, err
	}
	if c.ToolCallCardID, err = p.card(keyToolCallCardID); err != nil {
		return Command{}, header, err
	}
	if c.AfterExecution, err = p.after(); err != nil {
		return c, header, err
	}
	return c, merged, nil
}

// card reads the required id of a card.
func (p payload) card(field string) (string, error) {
	id, err := p.text(field)
	if err != nil {
		return "", err
	}
	if id == "" {
		return "", &PayloadError{Reason: CodeBadRequest, Field: field, Found: "missing or blank", Expected: "the id of a card"}
	}
	return id, nil
}

// NamedCard returns the card that a command names, or "" if it cannot be read. It may identify the call of a command
// that [DecodeCommand] refuses, so that the call can be answered. It is as untrusted as the rest of the payload.
func NamedCard(raw []byte) string {
	if len(raw) > MessageLimit {
		return ""
	}
	var p struct {
		Card string `json:"tool_call_card_id"`
	}
	if json.Unmarshal(raw, &p, jsontext.AllowDuplicateNames(false)) != nil || !validID(p.Card) {
		return ""
	}
	return p.Card
}
