"""diffusers: a tiny network learns to take noise from pictures, and several schedulers make pictures with it."""

import logging
import tempfile

import torch
from diffusers import (
    AutoencoderKL,
    DDIMScheduler,
    DDPMPipeline,
    DDPMScheduler,
    DPMSolverMultistepScheduler,
    EulerDiscreteScheduler,
    UNet2DModel,
)

logging.disable(logging.WARNING)


def main() -> None:
    torch.manual_seed(0)
    network = UNet2DModel(sample_size=8, in_channels=1, out_channels=1, layers_per_block=1, block_out_channels=(16, 32),
                          norm_num_groups=8, down_block_types=("DownBlock2D", "AttnDownBlock2D"),
                          up_block_types=("AttnUpBlock2D", "UpBlock2D"))
    schedule = DDPMScheduler(num_train_timesteps=50)
    optimizer = torch.optim.AdamW(network.parameters(), lr=2e-3)
    pictures = torch.rand(8, 1, 8, 8).round()
    for step in range(5):
        noise, times = torch.randn_like(pictures), torch.randint(50, (8,))
        loss = torch.nn.functional.mse_loss(network(schedule.add_noise(pictures, noise, times), times).sample, noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}   loss {loss.item():.5f}")

    network.eval()
    for kind in (DDPMScheduler, DDIMScheduler, EulerDiscreteScheduler, DPMSolverMultistepScheduler):
        scheduler = kind(num_train_timesteps=50)
        scheduler.set_timesteps(5)
        sample = torch.randn(2, 1, 8, 8, generator=torch.Generator().manual_seed(5)) * scheduler.init_noise_sigma
        for time in scheduler.timesteps:
            with torch.no_grad():
                predicted = network(scheduler.scale_model_input(sample, time), time).sample
            sample = scheduler.step(predicted, time, sample).prev_sample
        print(f"{kind.__name__:28} mean {sample.mean():.5f}, deviation {sample.std():.5f}")

    pipeline = DDPMPipeline(network, schedule)
    pipeline.set_progress_bar_config(disable=True)
    with tempfile.TemporaryDirectory() as folder:
        pipeline.save_pretrained(folder)
        pipeline = DDPMPipeline.from_pretrained(folder)
    pipeline.set_progress_bar_config(disable=True)
    made = pipeline(batch_size=1, num_inference_steps=3, output_type="np", generator=torch.Generator().manual_seed(1))
    coder = AutoencoderKL(1, 1, block_out_channels=(8,), norm_num_groups=4, latent_channels=2)
    coded = coder(pictures).sample
    coded.square().mean().backward()
    print(f"made: {made.images.shape}, mean {made.images.mean():.5f}; coded {coded.std():.5f}")


if __name__ == "__main__":
    main()
