"""x-transformers: trains a small language model with rotary positions, and lets it write."""

import torch
from x_transformers import (
    AutoregressiveWrapper,
    Decoder,
    Encoder,
    TransformerWrapper,
    ViTransformerWrapper,
    XTransformer,
)


def main() -> None:
    torch.manual_seed(9)
    layers = Decoder(dim=32, depth=2, heads=2, attn_dim_head=16, rotary_pos_emb=True, use_rmsnorm=True, ff_glu=True)
    model = AutoregressiveWrapper(TransformerWrapper(num_tokens=12, max_seq_len=32, attn_layers=layers))
    print(sum(parameter.numel() for parameter in model.parameters()), "numbers")
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    text = (torch.arange(17) + torch.arange(8)[:, None]) % 12
    for step in range(31):
        loss = model(text)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step:2d}   loss {loss.item():.5f}")
    print("greedy:", model.generate(text[:1, :4], 8, temperature=0.0).tolist())
    print("drawn:", model.generate(text[:2, :4], 8, temperature=1.0, filter_kwargs={"k": 3}).tolist())

    for settings in (
        {"alibi_pos_bias": True},
        {"rel_pos_bias": True, "attn_qk_norm": True},
        {"attn_flash": True, "use_scalenorm": True},
        {"macaron": True, "attn_kv_heads": 1},
    ):
        encoder = Encoder(dim=16, depth=1, heads=2, attn_dim_head=8, **settings)
        out = TransformerWrapper(num_tokens=12, max_seq_len=32, attn_layers=encoder)(text, mask=text > 0)
        out.square().mean().backward()
        print(settings, f"{out.std().item():.5f}")

    sight = ViTransformerWrapper(
        image_size=8, patch_size=4, num_classes=3, attn_layers=Encoder(dim=16, depth=1, heads=2, attn_dim_head=8)
    )
    print("classes:", [round(value, 4) for value in sight(torch.rand(1, 3, 8, 8))[0].tolist()])
    both = XTransformer(
        dim=16, enc_num_tokens=12, enc_depth=1, enc_heads=2, enc_max_seq_len=32, dec_num_tokens=12, dec_depth=1,
        dec_heads=2, dec_max_seq_len=32, tie_token_emb=True,
    )  # fmt: skip
    loss = both(text, text.flip(1))
    loss.backward()
    print(f"encoder and decoder: loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
