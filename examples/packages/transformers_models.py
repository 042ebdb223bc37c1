"""transformers: trains seven tiny random models, lets one write by several methods, saves it and loads it again."""

import logging
import tempfile
import warnings

import torch
import transformers
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MixtralConfig,
    MixtralForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
    ViTConfig,
    ViTForImageClassification,
)

logging.disable(logging.WARNING)
warnings.filterwarnings("ignore")
transformers.utils.logging.disable_progress_bar()
SIZES = {"vocab_size": 50, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
         "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
GROUPED = SIZES | {"num_key_value_heads": 2, "max_position_embeddings": 64}


def models() -> dict[str, torch.nn.Module]:
    """Models with random weights, each with dropout where its configuration has it."""
    return {
        "BERT": BertForSequenceClassification(BertConfig(**SIZES)),
        "GPT-2": GPT2LMHeadModel(GPT2Config(vocab_size=50, n_embd=32, n_layer=2, n_head=4, n_positions=64,
                                            bos_token_id=1, eos_token_id=2, pad_token_id=0)),
        "Llama": LlamaForCausalLM(LlamaConfig(**GROUPED)),
        "Qwen3": Qwen3ForCausalLM(Qwen3Config(**GROUPED, head_dim=8)),
        "Mixtral": MixtralForCausalLM(MixtralConfig(**GROUPED, num_local_experts=4, output_router_logits=True)),
        "T5": T5ForConditionalGeneration(T5Config(vocab_size=50, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4,
                                                  decoder_start_token_id=0)),
        "ViT": ViTForImageClassification(ViTConfig(
            hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, image_size=16,
            patch_size=4)),
    }


def batch(name: str) -> dict[str, torch.Tensor]:
    """Random arguments of a model."""
    if name == "ViT":
        return {"pixel_values": torch.randn(4, 3, 16, 16), "labels": torch.randint(2, (4,))}
    tokens = torch.randint(3, 50, (4, 12))
    return {"input_ids": tokens, "attention_mask": torch.arange(12) < torch.tensor([[12], [12], [9], [7]]),
            "labels": torch.randint(2, (4,)) if name == "BERT" else tokens}


def train(name: str, model: torch.nn.Module) -> None:
    """Five steps of AdamW, with clipped gradients."""
    optimizer, losses, arguments = torch.optim.AdamW(model.parameters(), lr=3e-3), [], batch(name)
    model.train()
    for _ in range(5):
        loss = model(**arguments).loss
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(f"{loss.item():.5f}")
    print(f"{name:8} {sum(p.numel() for p in model.parameters())} numbers, losses {' '.join(losses)}, norm {norm:.4f}")


def main() -> None:
    torch.manual_seed(0)
    trained = models()
    for name, model in trained.items():
        train(name, model)

    llama = trained["Llama"].eval()
    prompt = torch.tensor([[1, 5, 9, 13], [1, 7, 7, 20]])
    ways = ({"do_sample": False}, {"do_sample": True, "top_k": 10, "temperature": 0.7},
            {"do_sample": True, "top_p": 0.8}, {"num_beams": 3, "do_sample": False})
    for way in ways:
        torch.manual_seed(3)
        written = llama.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=8, **way)
        print(f"{way}: {written.tolist()}")

    with tempfile.TemporaryDirectory() as folder:
        llama.save_pretrained(folder)
        again = LlamaForCausalLM.from_pretrained(folder)
    same = torch.equal(llama(prompt).logits, again(prompt).logits)
    print(f"saved and loaded: {same}, logits {llama(prompt).logits.std():.5f}")


if __name__ == "__main__":
    main()
