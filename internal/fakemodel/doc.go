// Package fakemodel is a model server: it listens on the loopback and answers by a script, so that a real agent takes a
// whole turn, with real tool calls, without a model and without the internet. Tests use it, and `earshot doctor agents`.
//
// It speaks the wire formats of Anthropic Messages, OpenAI Responses, OpenAI Chat Completions and Gemini, streamed and
// whole. One script serves them all: a host is told the server's address as the address of its model, and its requests
// show which format it speaks.
//
// A script is a list of turns, each the answer to one request, in the order in which the requests come. A turn says a
// text, calls tools, several of them at once where it lists several, or fails. A tool is named as its server names it;
// the name under which the host offers it (mcp__files__write_file, mcp_files_write_file, a namespace) is found in the
// request. Scripts are Go values or YAML:
//
//	turns:
//	  - call:
//	      - tool: files/write_file
//	        args: {path: "${FOLDER}/note.txt", content: hello}
//	  - when: Successfully wrote
//	    say: The note is written.
//
// Every request is kept, parsed the same way for every format, so that a test can assert what the model was told. A
// request that no turn answers, a turn whose condition does not hold, and a turn that nobody asked for fail the test,
// with what was asked. A client that asks again after a failure takes the next turn, as every other request does. What
// hosts ask besides, such as for a title, is answered by asides, which have no place in the order.
package fakemodel
