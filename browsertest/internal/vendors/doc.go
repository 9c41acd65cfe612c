// Package vendors runs npm packages for the models' APIs beside package provider on the same bytes. For Anthropic, OpenAI and
// Google they are the vendors' own SDKs, for OpenRouter its provider for the AI SDK. For Mistral and DeepSeek they are the AI
// SDK's own providers, @ai-sdk/mistral and @ai-sdk/deepseek, and not packages of those vendors.
package vendors
