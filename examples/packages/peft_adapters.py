"""peft: adapters of low rank, prompts and scaled activations train small parts of a tiny language model."""

import tempfile

import torch
from peft import IA3Config, LoHaConfig, LoraConfig, PeftModel, PromptTuningConfig, TaskType, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

SIZES = {"vocab_size": 50, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "intermediate_size": 64, "max_position_embeddings": 64, "bos_token_id": 1,
         "eos_token_id": 2, "pad_token_id": 0}
WAYS = {
    "LoRA": LoraConfig(task_type=TaskType.CAUSAL_LM, r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"]),
    "DoRA": LoraConfig(task_type=TaskType.CAUSAL_LM, r=4, use_dora=True, target_modules=["q_proj", "down_proj"]),
    "LoHa": LoHaConfig(task_type=TaskType.CAUSAL_LM, r=4, target_modules=["q_proj", "v_proj"]),
    "IA3": IA3Config(task_type=TaskType.CAUSAL_LM, target_modules=["k_proj", "down_proj"],
                     feedforward_modules=["down_proj"]),
    "prompt": PromptTuningConfig(task_type=TaskType.CAUSAL_LM, num_virtual_tokens=4),
}


def base() -> LlamaForCausalLM:
    """A model whose weights are the same each time."""
    torch.manual_seed(1)
    return LlamaForCausalLM(LlamaConfig(**SIZES))


def main() -> None:
    torch.manual_seed(0)
    tokens = torch.randint(3, 50, (4, 12))
    for name, config in WAYS.items():
        model = get_peft_model(base(), config)
        optimizer = torch.optim.AdamW(model.parameters(), lr=3e-2)
        losses = []
        for _ in range(5):
            loss = model(input_ids=tokens, labels=tokens).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(f"{loss.item():.5f}")
        trained, all_of_them = model.get_nb_trainable_parameters()
        print(f"{name:7} {trained} of {all_of_them} numbers, losses {' '.join(losses)}")
        if name != "LoRA":
            continue
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            again = PeftModel.from_pretrained(base(), folder).eval()
        merged = model.eval().merge_and_unload()
        ours, theirs = merged(tokens).logits, again(tokens).logits
        same = torch.allclose(ours, theirs, atol=1e-5)
        print(f"merged: {type(merged).__name__}, logits {ours.std():.5f}, as loaded {same}")


if __name__ == "__main__":
    main()
